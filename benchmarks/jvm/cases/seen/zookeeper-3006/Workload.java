import java.io.File;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server keeps some nodes and stops. Then its data is loaded, time and again, and asked how much of the transaction log
 * may be sent to a learner, as a leader asks when a learner joins: Workload NODES LOADS.
 */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);

    public static void main(String[] arguments) throws Exception {
        int nodes = Integer.parseInt(arguments[0]);
        int loads = Integer.parseInt(arguments[1]);
        File data = new File("data");
        keep(data, nodes);
        int answered = 0;
        for (int i = 0; i < loads; i++) {
            FileTxnSnapLog files = new FileTxnSnapLog(data, data);
            ZKDatabase database = new ZKDatabase(files);
            database.loadDataBase();
            try {
                LOG.info("At most {} bytes of log for a learner", database.calculateTxnLogSizeLimit());
                answered++;
            } catch (RuntimeException e) {
                LOG.error("No answer for a learner", e);
            }
            files.close();
        }
        System.exit(answered == loads ? 0 : 1);
    }

    private static void keep(File data, int nodes) throws Exception {
        if (!data.mkdirs()) {
            throw new IllegalStateException("there is data already");
        }
        ZooKeeperServer server = new ZooKeeperServer(data, data, 500);
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress("127.0.0.1", 0), 50);
        connections.startup(server);
        CountDownLatch up = new CountDownLatch(1);
        ZooKeeper session = new ZooKeeper("127.0.0.1:" + connections.getLocalPort(), 4000, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                up.countDown();
            }
        });
        up.await();
        for (int i = 0; i < nodes; i++) {
            session.create("/node-" + i, new byte[10], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
        session.close();
        while (connections.getNumAliveConnections() > 0 || isRunning("main-EventThread")) {
            Thread.sleep(10);
        }
        connections.shutdown();
    }

    private static boolean isRunning(String thread) {
        return Thread.getAllStackTraces().keySet().stream().anyMatch(each -> each.getName().equals(thread));
    }
}
