// Reads a map as Heritrix does; for each URL on standard input prints the crawler that it is mapped to, and its queue.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import org.archive.crawler.framework.Frontier;
import org.archive.crawler.frontier.SurtAuthorityQueueAssignmentPolicy;
import org.archive.crawler.processor.LexicalCrawlMapper;
import org.archive.modules.CrawlURI;
import org.archive.net.UURIFactory;
import org.archive.spring.ConfigPath;

public class Check extends LexicalCrawlMapper {
    public static void main(String[] words) throws Exception {
        Check mapper = new Check();
        SurtAuthorityQueueAssignmentPolicy policy = new SurtAuthorityQueueAssignmentPolicy();
        mapper.setFrontier((Frontier) Proxy.newProxyInstance(
                Check.class.getClassLoader(), new Class<?>[] {Frontier.class},
                (proxy, method, given) -> policy.getClassKey((CrawlURI) given[0])));
        mapper.setMapPath(new ConfigPath("map", words[0]));
        mapper.loadMap();
        BufferedReader urls = new BufferedReader(new InputStreamReader(System.in));
        for (String url = urls.readLine(); url != null; url = urls.readLine()) {
            CrawlURI one = new CrawlURI(UURIFactory.getInstance(url));
            System.out.println(mapper.map(one) + " " + policy.getClassKey(one));
        }
    }
}
