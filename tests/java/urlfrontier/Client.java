// A client with the stubs of URLFrontier's API, as StormCrawler uses them: puts URLs under its own crawl id,
// prints acknowledgements, then what each of two crawls gets, and how an error looks.

import crawlercommons.urlfrontier.URLFrontierGrpc;
import crawlercommons.urlfrontier.Urlfrontier.AckMessage;
import crawlercommons.urlfrontier.Urlfrontier.DiscoveredURLItem;
import crawlercommons.urlfrontier.Urlfrontier.GetParams;
import crawlercommons.urlfrontier.Urlfrontier.QueueWithinCrawlParams;
import crawlercommons.urlfrontier.Urlfrontier.URLInfo;
import crawlercommons.urlfrontier.Urlfrontier.URLItem;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.Iterator;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

public class Client {
    public static void main(String[] words) throws Exception {
        ManagedChannel channel = ManagedChannelBuilder.forTarget(words[0]).usePlaintext().build();
        TreeSet<String> acks = new TreeSet<>();
        CountDownLatch done = new CountDownLatch(1);
        StreamObserver<URLItem> stream = URLFrontierGrpc.newStub(channel).putURLs(new StreamObserver<>() {
            @Override
            public void onNext(AckMessage ack) {
                acks.add("ack " + ack.getID() + " " + ack.getStatus());
            }

            @Override
            public void onError(Throwable error) {
                acks.add("error " + error);
                done.countDown();
            }

            @Override
            public void onCompleted() {
                done.countDown();
            }
        });
        for (int i = 1; i < words.length; i++) {
            URLInfo info = URLInfo.newBuilder().setUrl(words[i]).setCrawlID("storm").setKey("its-own").build();
            DiscoveredURLItem found = DiscoveredURLItem.newBuilder().setInfo(info).build();
            stream.onNext(URLItem.newBuilder().setDiscovered(found).setID("u" + i).build());
        }
        stream.onCompleted();
        done.await(60, TimeUnit.SECONDS);
        acks.forEach(System.out::println);
        URLFrontierGrpc.URLFrontierBlockingStub asking = URLFrontierGrpc.newBlockingStub(channel);
        for (String crawl : new String[] {"fra", "nyc"}) {
            TreeSet<String> lines = new TreeSet<>();
            Iterator<URLInfo> found = asking.getURLs(GetParams.newBuilder().setCrawlID(crawl).build());
            found.forEachRemaining(one -> lines.add(crawl + " " + one.getUrl() + " " + one.getKey() + " "
                    + one.getMetadataOrThrow("ip").getValues(0)));
            lines.forEach(System.out::println);
        }
        QueueWithinCrawlParams queue = QueueWithinCrawlParams.newBuilder().setKey("x").setCrawlID("fra").build();
        System.out.println("stats " + asking.getStats(queue).getCrawlID());
        try {
            asking.getStats(QueueWithinCrawlParams.getDefaultInstance());
        } catch (StatusRuntimeException error) {
            System.out.println(error.getStatus().getCode() + " " + error.getStatus().getDescription());
        }
        channel.shutdownNow();
    }
}
