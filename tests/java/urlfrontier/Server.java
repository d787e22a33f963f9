// A service with the messages and stubs of URLFrontier's API: keeps URLs by crawl, and prints its port.

import crawlercommons.urlfrontier.URLFrontierGrpc;
import crawlercommons.urlfrontier.Urlfrontier.AckMessage;
import crawlercommons.urlfrontier.Urlfrontier.GetParams;
import crawlercommons.urlfrontier.Urlfrontier.QueueWithinCrawlParams;
import crawlercommons.urlfrontier.Urlfrontier.Stats;
import crawlercommons.urlfrontier.Urlfrontier.URLInfo;
import crawlercommons.urlfrontier.Urlfrontier.URLItem;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class Server {
    public static void main(String[] words) throws Exception {
        io.grpc.Server server = ServerBuilder.forPort(0).addService(new Service()).build().start();
        System.out.println(server.getPort());
        System.out.flush();
        server.awaitTermination();
    }
}

class Service extends URLFrontierGrpc.URLFrontierImplBase {
    private final List<URLInfo> kept = Collections.synchronizedList(new ArrayList<>());

    @Override
    public StreamObserver<URLItem> putURLs(StreamObserver<AckMessage> answers) {
        return new StreamObserver<>() {
            @Override
            public void onNext(URLItem item) {
                URLInfo info = item.hasDiscovered() ? item.getDiscovered().getInfo() : item.getKnown().getInfo();
                kept.add(info);
                String name = item.getID().isEmpty() ? info.getUrl() : item.getID();
                answers.onNext(AckMessage.newBuilder().setID(name).setStatus(AckMessage.Status.OK).build());
            }

            @Override
            public void onError(Throwable error) {}

            @Override
            public void onCompleted() {
                answers.onCompleted();
            }
        };
    }

    @Override
    public void getURLs(GetParams asked, StreamObserver<URLInfo> answers) {
        kept.stream().filter(one -> one.getCrawlID().equals(asked.getCrawlID())).forEach(answers::onNext);
        answers.onCompleted();
    }

    @Override
    public void getStats(QueueWithinCrawlParams asked, StreamObserver<Stats> answers) {
        if (asked.getKey().isEmpty()) {
            answers.onError(Status.INVALID_ARGUMENT.withDescription("name a queue").asRuntimeException());
            return;
        }
        answers.onNext(Stats.newBuilder().setSize(kept.size()).setCrawlID(asked.getCrawlID()).build());
        answers.onCompleted();
    }
}
