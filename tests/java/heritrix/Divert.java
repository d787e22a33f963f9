// Diverts URLs as Heritrix does, or reads a schedule as it does.
// `MAP FOLDER`: reads `URL PATH PAGE` from standard input, writes .divert files. `FILE`: prints URL, path and page.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import org.archive.crawler.framework.Frontier;
import org.archive.crawler.frontier.SurtAuthorityQueueAssignmentPolicy;
import org.archive.crawler.processor.LexicalCrawlMapper;
import org.archive.modules.CrawlURI;
import org.archive.spring.ConfigPath;

public class Divert extends LexicalCrawlMapper {
    public static void main(String[] words) throws Exception {
        if (words.length == 1) {
            for (String line : Files.readAllLines(Path.of(words[0]))) {
                CrawlURI one = CrawlURI.fromHopsViaString(line.substring(3).trim());
                System.out.println(one.getURI() + " " + one.getPathFromSeed() + " " + one.flattenVia());
            }
            return;
        }
        Divert mapper = new Divert();
        SurtAuthorityQueueAssignmentPolicy policy = new SurtAuthorityQueueAssignmentPolicy();
        mapper.setFrontier((Frontier) Proxy.newProxyInstance(
                Divert.class.getClassLoader(), new Class<?>[] {Frontier.class},
                (proxy, method, given) -> policy.getClassKey((CrawlURI) given[0])));
        mapper.setMapPath(new ConfigPath("map", words[0]));
        mapper.setDiversionDir(new ConfigPath("diversions", words[1]));
        mapper.setLocalName("fra");
        mapper.start();
        mapper.updateGeneration("202611172305");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            CrawlURI one = CrawlURI.fromHopsViaString(line);
            String target = mapper.map(one);
            if (!target.equals("fra")) {
                mapper.divertLog(one, target);
            }
        }
        mapper.updateGeneration("202611172306");
    }
}
