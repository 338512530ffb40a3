import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.store.kahadb.KahaDBPersistenceAdapter;
import org.apache.activemq.util.DefaultIOExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A warehouse whose orders are queued by a broker and all picked, day after day: Workload DAYS ORDERS BYTES. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("warehouse");
    private static final int FILE_LENGTH = 128 * 1024;
    private static final int FEW = 4; // journal files that are enough for a day whose orders are all picked
    private static final int PATIENCE_MS = 8000;

    public static void main(String[] arguments) throws Exception {
        int days = Integer.parseInt(arguments[0]);
        int orders = Integer.parseInt(arguments[1]);
        int size = Integer.parseInt(arguments[2]);
        File data = new File("data");
        String address = "tcp://127.0.0.1:" + freePort();
        BrokerService broker = broker(data, address);
        broker.start();
        broker.waitUntilStarted();
        ActiveMQConnectionFactory factory = new ActiveMQConnectionFactory(
                "failover:(" + address + ")?initialReconnectDelay=50&maxReconnectDelay=200&randomize=false");
        factory.setWatchTopicAdvisories(false);
        Connection connection = factory.createConnection();
        connection.start();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Queue queue = session.createQueue("orders");
        MessageProducer producer = session.createProducer(queue);
        MessageConsumer consumer = session.createConsumer(queue);
        boolean full = false;
        for (int day = 1; day <= days && !full; day++) {
            Set<Integer> picked = new HashSet<>();
            for (int order = 1; order <= orders; order++) {
                BytesMessage message = session.createBytesMessage();
                message.setIntProperty("order", order);
                message.writeBytes(new byte[size]);
                send(producer, message);
            }
            while (pick(consumer, picked, day, picked.size() < orders ? 1000 : 20) || picked.size() < orders) {
                // until none is left, even if one came twice
            }
            LOG.info("Day {}: all {} orders are picked", day, orders);
            full = !tidy(data);
            if (full) {
                LOG.error("The disk fills up: no order is left, but the journal keeps {} files", files(data));
            } else {
                LOG.info("Day {}: the journal is tidy", day);
            }
        }
        connection.close();
        LOG.info("{} days are done", days);
        System.exit(full ? 1 : 0);
    }

    private static BrokerService broker(File data, String address) throws Exception {
        KahaDBPersistenceAdapter store = new KahaDBPersistenceAdapter();
        store.setDirectory(data);
        store.setJournalMaxFileLength(FILE_LENGTH);
        store.setCheckpointInterval(200);
        store.setCleanupInterval(400);
        DefaultIOExceptionHandler handler = new DefaultIOExceptionHandler();
        handler.setStopStartConnectors(true);
        handler.setResumeCheckSleepPeriod(200);
        BrokerService broker = new BrokerService();
        broker.setBrokerName("warehouse");
        broker.setUseJmx(false);
        broker.setUseShutdownHook(false);
        broker.setAdvisorySupport(false);
        broker.setPersistenceAdapter(store);
        broker.setIoExceptionHandler(handler);
        broker.getSystemUsage().getStoreUsage().setLimit(64 << 20);
        broker.getSystemUsage().getTempUsage().setLimit(64 << 20);
        broker.addConnector(address);
        return broker;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            return socket.getLocalPort();
        }
    }

    private static void send(MessageProducer producer, Message message) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                producer.send(message);
                return;
            } catch (JMSException e) {
                LOG.warn("Order not queued at attempt {}: {}", attempt, e.toString());
                if (attempt == 50) {
                    throw new IllegalStateException("The broker takes no orders", e);
                }
                Thread.sleep(100);
            }
        }
    }

    /** Whether there was one. */
    private static boolean pick(MessageConsumer consumer, Set<Integer> picked, int day, long patience) throws JMSException {
        Message message = consumer.receive(patience);
        if (message != null && !picked.add(message.getIntProperty("order"))) {
            LOG.info("Day {}: an order comes twice", day);
        }
        return message != null;
    }

    private static boolean tidy(File data) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE_MS * 1_000_000L;
        while (files(data) > FEW) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(20);
        }
        return true;
    }

    private static int files(File data) {
        String[] names = data.list((folder, name) -> name.startsWith("db-") && name.endsWith(".log"));
        return names == null ? 0 : names.length;
    }
}
