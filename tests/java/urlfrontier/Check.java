// Reads lines of JSON as the client of URLFrontier does; prints URL, queue and metadata of each.

import com.google.protobuf.util.JsonFormat;
import crawlercommons.urlfrontier.Urlfrontier.URLInfo;
import crawlercommons.urlfrontier.Urlfrontier.URLItem;
import java.nio.file.Files;
import java.nio.file.Path;

public class Check {
    public static void main(String[] words) throws Exception {
        for (String line : Files.readAllLines(Path.of(words[0]))) {
            URLItem.Builder item = URLItem.newBuilder();
            JsonFormat.parser().merge(line, item);
            URLInfo info = item.getDiscovered().getInfo();
            System.out.println(info.getUrl() + " " + info.getKey() + " " + info.getCrawlID() + " "
                    + info.getMetadataOrThrow("subnet").getValues(0));
        }
    }
}
