import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import kafka.server.KafkaConfig;
import kafka.server.KafkaServerStartable;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy;
import org.apache.kafka.connect.file.FileStreamSourceConnector;
import org.apache.kafka.connect.runtime.Herder;
import org.apache.kafka.connect.runtime.Worker;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.apache.kafka.connect.runtime.standalone.StandaloneConfig;
import org.apache.kafka.connect.runtime.standalone.StandaloneHerder;
import org.apache.kafka.connect.storage.MemoryOffsetBackingStore;
import org.apache.kafka.connect.util.FutureCallback;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A broker, a worker of Connect, and an operator who asks it for this and that. Arguments: names of connectors. */
public final class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("operator");
    private static final int PATIENCE_S = 5;

    private final ExecutorService requests = Executors.newCachedThreadPool();
    private final Herder herder;
    private int unanswered;

    private Workload(Herder herder) { this.herder = herder; }

    private interface Request { void to(Herder herder, FutureCallback<?> answer) throws Exception; }

    public static void main(String[] arguments) {
        try {
            List<String> names = arguments.length > 0 ? List.of(arguments) : List.of("orders", "invoices", "parcels");
            new Workload(startWorker(startBroker())).run(names);
            Runtime.getRuntime().halt(0);
        } catch (Throwable error) {
            LOG.error("The workload ends early", error);
            Runtime.getRuntime().halt(1);
        }
    }

    private void run(List<String> names) throws Exception {
        for (String name : names) {
            create(name);
            ask("tell the configuration of " + name, (to, answer) -> to.connectorConfig(name, cast(answer)));
        }
        ask("list the connectors", (to, answer) -> to.connectors(cast(answer)));
        for (String name : names) {
            ask("restart " + name, (to, answer) -> to.restartConnector(name, cast(answer)));
        }
        ask("delete " + names.get(0), (to, answer) -> to.deleteConnectorConfig(names.get(0), cast(answer)));
        create("returns");
        LOG.info("{} requests had no answer", unanswered);
        if (unanswered > 1) {
            LOG.error("The worker is disabled: it answers nobody any more");
        }
    }

    private void create(String name) throws Exception {
        Files.writeString(Path.of(name + ".txt"), "first\nsecond\n");
        ask("create " + name, (to, answer) -> to.putConnectorConfig(name, configuration(name), false, cast(answer)));
    }

    /** As the REST layer does: in a thread, until a time limit. */
    private void ask(String what, Request request) throws InterruptedException {
        if (unanswered > 2) {
            return;
        }
        FutureCallback<Object> answer = new FutureCallback<>((error, result) -> { });
        LOG.info("Request: {}", what);
        requests.submit(() -> {
            request.to(herder, answer);
            return null;
        });
        try {
            answer.get(PATIENCE_S, TimeUnit.SECONDS);
            unanswered = 0;
        } catch (TimeoutException error) {
            unanswered++;
            LOG.warn("Request timed out: {}", what);
        } catch (ExecutionException error) {
            unanswered = 0;
            LOG.warn("Request failed: {}: {}", what, error.getCause().toString());
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> FutureCallback<T> cast(FutureCallback<?> answer) { return (FutureCallback<T>) answer; }

    private static Map<String, String> configuration(String name) {
        return Map.of("name", name, "connector.class", FileStreamSourceConnector.class.getName(), "tasks.max", "1",
            "file", Path.of(name + ".txt").toAbsolutePath().toString(), "topic", name);
    }

    private static Herder startWorker(String broker) {
        Map<String, String> told = Map.of("bootstrap.servers", broker, "offset.storage.file.filename", "offsets",
            "key.converter", "org.apache.kafka.connect.storage.StringConverter",
            "value.converter", "org.apache.kafka.connect.storage.StringConverter");
        Plugins plugins = new Plugins(told);
        plugins.compareAndSwapWithDelegatingLoader();
        NoneConnectorClientConfigOverridePolicy policy = new NoneConnectorClientConfigOverridePolicy();
        Worker worker = new Worker("worker-1", Time.SYSTEM, plugins, new StandaloneConfig(told), new MemoryOffsetBackingStore(), policy);
        Herder herder = new StandaloneHerder(worker, "cluster", policy);
        herder.start();
        return herder;
    }

    private static String startBroker() throws Exception {
        Path zooKeeper = Files.createDirectories(Path.of("zookeeper"));
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress("127.0.0.1", 0), 100);
        connections.startup(new ZooKeeperServer(zooKeeper.toFile(), zooKeeper.toFile(), 2000));
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        Properties told = new Properties();
        told.put("zookeeper.connect", "127.0.0.1:" + connections.getLocalPort());
        told.put("broker.id", "0");
        told.put("log.dirs", Path.of("kafka-logs").toAbsolutePath().toString());
        told.put("listeners", "PLAINTEXT://127.0.0.1:" + port);
        told.put("offsets.topic.replication.factor", "1");
        new KafkaServerStartable(new KafkaConfig(told)).startup();
        return "127.0.0.1:" + port;
    }
}
