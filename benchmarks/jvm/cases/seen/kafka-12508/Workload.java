import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import kafka.server.KafkaConfig;
import kafka.server.KafkaServerStartable;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A broker and an application that hands a table and a stream on, and is started again when it fails. Arguments: users, updates of each. */
public final class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("shop");
    private static final long PATIENCE_MS = 20_000;

    private final String broker;
    private KafkaStreams streams;

    private Workload(String broker) { this.broker = broker; }

    public static void main(String[] arguments) {
        try {
            int users = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 4;
            int updates = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 3;
            new Workload(startBroker()).run(users, updates);
            Runtime.getRuntime().halt(0);
        } catch (Throwable error) {
            LOG.error("The workload ends early", error);
            Runtime.getRuntime().halt(1);
        }
    }

    private static String startBroker() throws Exception {
        Path zooKeeper = Files.createDirectories(Path.of("zookeeper"));
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress("127.0.0.1", 0), 100);
        connections.startup(new ZooKeeperServer(zooKeeper.toFile(), zooKeeper.toFile(), 2000));
        int port;
        try (java.net.ServerSocket socket = new java.net.ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        Properties told = new Properties();
        told.put("zookeeper.connect", "127.0.0.1:" + connections.getLocalPort());
        told.put("broker.id", "0");
        told.put("log.dirs", Path.of("kafka-logs").toAbsolutePath().toString());
        told.put("listeners", "PLAINTEXT://127.0.0.1:" + port);
        told.put("offsets.topic.replication.factor", "1");
        told.put("offsets.topic.num.partitions", "1");
        told.put("group.initial.rebalance.delay.ms", "0");
        told.put("group.min.session.timeout.ms", "1000");
        new KafkaServerStartable(new KafkaConfig(told)).startup();
        return "127.0.0.1:" + port;
    }

    private void run(int users, int updates) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker));
                KafkaProducer<String, String> producer = new KafkaProducer<>(Map.of("bootstrap.servers", broker),
                    new StringSerializer(), new StringSerializer())) {
            admin.createTopics(List.of("profiles", "orders", "profiles-out", "orders-out").stream()
                .map(topic -> new NewTopic(topic, 1, (short) 1)).collect(Collectors.toList())).all().get();
            start();
            Set<String> sent = new TreeSet<>();
            for (int update = 1; update <= updates; update++) {
                for (String topic : List.of("profiles", "orders")) {
                    for (int user = 1; user <= users; user++) {
                        String value = topic + " user-" + user + " " + update;
                        producer.send(new ProducerRecord<>(topic, "user-" + user, value)).get();
                        sent.add(value);
                    }
                    awaitCommit(admin, new TopicPartition(topic, 0), (long) users * update);
                }
            }
            streams.close(Duration.ofSeconds(5));
            Set<String> lost = new TreeSet<>(sent);
            lost.removeAll(consume());
            if (!lost.isEmpty()) {
                LOG.error("{} of {} updates are committed, but not in the output: {}", lost.size(), sent.size(), lost);
            }
            LOG.info("Done");
        }
    }

    /** That all records are processed; an application that fails meanwhile is started again. */
    private void awaitCommit(Admin admin, TopicPartition input, long end) throws Exception {
        long patience = System.currentTimeMillis() + PATIENCE_MS;
        while (System.currentTimeMillis() < patience) {
            if (streams.state() == KafkaStreams.State.ERROR) {
                LOG.warn("The application has failed and is started again");
                streams.close(Duration.ofSeconds(5));
                start();
            }
            OffsetAndMetadata committed = admin.listConsumerGroupOffsets("shop").partitionsToOffsetAndMetadata().get().get(input);
            if (committed != null && committed.offset() == end) {
                LOG.info("{} records of {} are processed and committed", end, input.topic());
                return;
            }
            Thread.sleep(100);
        }
        throw new IllegalStateException("records of " + input.topic() + " are still not processed");
    }

    private void start() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.table("profiles", Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("profiles-store").withCachingDisabled())
            .toStream().to("profiles-out");
        builder.<String, String>stream("orders").to("orders-out");
        Properties told = new Properties();
        told.put(StreamsConfig.APPLICATION_ID_CONFIG, "shop");
        told.put(StreamsConfig.CLIENT_ID_CONFIG, "shop");
        told.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
        told.put(StreamsConfig.STATE_DIR_CONFIG, Path.of("state").toAbsolutePath().toString());
        told.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.String().getClass());
        told.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.String().getClass());
        told.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 500);
        told.put("auto.offset.reset", "earliest");
        told.put("session.timeout.ms", 2000);
        told.put("heartbeat.interval.ms", 500);
        streams = new KafkaStreams(builder.build(), told);
        streams.start();
    }

    private Set<String> consume() {
        Set<String> found = new TreeSet<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", broker),
                new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> outputs = List.of(new TopicPartition("profiles-out", 0), new TopicPartition("orders-out", 0));
            consumer.assign(outputs);
            consumer.seekToBeginning(outputs);
            Map<TopicPartition, Long> ends = consumer.endOffsets(outputs);
            while (outputs.stream().anyMatch(output -> consumer.position(output) < ends.get(output))) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    found.add(record.value());
                }
            }
        }
        return found;
    }
}
