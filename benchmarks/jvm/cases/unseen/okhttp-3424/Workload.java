import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.Dispatcher;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import okhttp3.logging.HttpLoggingInterceptor;

/** A crawler: the pages of one host, one at a time, and pictures of many others: Workload PAGES FOLDER. */
public class Workload {
    private static final Logger LOG = Logger.getLogger("crawler");
    private static final int PICTURES = 2; // of each page, each of a host of its own
    private static final int PATIENCE_S = 6;

    private final Dispatcher dispatcher;
    private final OkHttpClient client;
    private final int port;
    private final List<Integer> putOff = new ArrayList<>();
    private int pictures;

    private Workload(int port) {
        this.port = port;
        dispatcher = new Dispatcher(new ThreadPoolExecutor(2, 16, 30, TimeUnit.SECONDS, new SynchronousQueue<>()));
        dispatcher.setMaxRequestsPerHost(1); // to be polite
        HttpLoggingInterceptor logging = new HttpLoggingInterceptor().setLevel(HttpLoggingInterceptor.Level.BASIC);
        client = new OkHttpClient.Builder().dispatcher(dispatcher).addInterceptor(logging).build();
    }

    public static void main(String[] arguments) throws Exception {
        try (InputStream configuration = Workload.class.getResourceAsStream("/logging.properties")) {
            LogManager.getLogManager().readConfiguration(configuration);
        }
        int pages = Integer.parseInt(arguments[0]);
        String folder = arguments[1];
        HttpServer server = HttpServer.create(new InetSocketAddress(0), 50); // of all hosts
        server.createContext("/", exchange -> {
            byte[] body = exchange.getRequestURI().getPath().getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        Workload crawler = new Workload(server.getAddress().getPort());
        boolean going = true;
        for (int page = 1; page <= pages && going; page++) {
            going = crawler.crawl(folder, page);
        }
        List<Integer> again = List.copyOf(crawler.putOff);
        for (int i = 0; i < again.size() && going; i++) {
            going = crawler.crawl(folder, again.get(i));
        }
        LOG.info(pages + " pages, " + crawler.pictures + " pictures, " + again.size() + " pages were put off");
        System.exit(going ? 0 : 1);
    }

    /** Whether the page had its turn. */
    private boolean crawl(String folder, int page) throws InterruptedException {
        try {
            get("127.0.0.1", folder + "/page" + page);
        } catch (RejectedExecutionException | ExecutionException e) {
            LOG.warning("Page " + page + " is put off: " + (e.getCause() == null ? e.getMessage() : e.getCause().getMessage()));
            putOff.add(page);
            return true;
        } catch (TimeoutException e) {
            if (dispatcher.queuedCallsCount() == 0) {
                LOG.warning("Page " + page + " is put off: no answer");
                putOff.add(page);
                return true;
            }
            LOG.severe("The crawler is stuck: page " + page + " waits for its turn, " + dispatcher.queuedCallsCount() + " queued, "
                    + dispatcher.runningCallsCount() + " running");
            return false;
        }
        for (int i = 0; i < PICTURES; i++) {
            String host = "127.0.0." + (2 + page * PICTURES + i);
            try {
                get(host, folder + "/picture" + page);
                pictures++;
            } catch (RejectedExecutionException | ExecutionException | TimeoutException e) {
                LOG.info("A picture of page " + page + " is left out");
            }
        }
        return true;
    }

    private String get(String host, String path) throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Request request = new Request.Builder().url("http://" + host + ":" + port + "/" + path).build();
        Call call = client.newCall(request);
        call.enqueue(new Callback() {
            @Override
            public void onFailure(Call failed, IOException e) {
                outcome.completeExceptionally(e);
            }

            @Override
            public void onResponse(Call answered, Response response) throws IOException {
                try (response) {
                    outcome.complete(response.body().string());
                } catch (IOException e) {
                    outcome.completeExceptionally(e);
                }
            }
        });
        String body = outcome.get(PATIENCE_S, TimeUnit.SECONDS);
        for (int i = 0; i < 1000 && dispatcher.runningCalls().contains(call); i++) {
            Thread.sleep(1); // the callback comes a bit before the call has ended
        }
        return body;
    }
}
