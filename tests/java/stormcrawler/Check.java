// Reads seeds and settings as StormCrawler does; prints URL, queue and metadata of each, then the crawl id.

import com.digitalpebble.stormcrawler.Metadata;
import com.digitalpebble.stormcrawler.util.ConfUtils;
import com.digitalpebble.stormcrawler.util.StringTabScheme;
import com.digitalpebble.stormcrawler.util.URLPartitioner;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.storm.Config;

public class Check {
    public static void main(String[] words) throws Exception {
        Config settings = ConfUtils.loadConf(words[1], new Config());
        URLPartitioner partitioner = new URLPartitioner();
        partitioner.configure(settings);
        for (String line : Files.readAllLines(Path.of(words[0]))) {
            List<Object> read = new StringTabScheme().deserialize(
                    ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
            Metadata metadata = (Metadata) read.get(1);
            String url = (String) read.get(0);
            System.out.println(url + " " + partitioner.getPartition(url, metadata) + " "
                    + metadata.getFirstValue("crawler") + " " + metadata.getFirstValue("subnet"));
        }
        System.out.println(ConfUtils.getString(settings, "urlfrontier.crawlid"));
    }
}
