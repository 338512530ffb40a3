import java.io.File;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A ZooKeeper server, and a shop that keeps its orders there, one after the other. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final int ORDERS = 20;
    private static final int PATIENCE_S = 3; // for one order

    public static void main(String[] arguments) throws Exception {
        System.setProperty("zookeeper.nio.numSelectorThreads", "1"); // else by the number of cores
        System.setProperty("zookeeper.nio.numWorkerThreads", "4");
        File data = new File("data");
        ZooKeeperServer server = new ZooKeeperServer(data, data, 2000);
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress("127.0.0.1", 0), 10);
        connections.startup(server);

        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper shop = new ZooKeeper("127.0.0.1:" + connections.getLocalPort(), 10000, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        connected.await();
        int kept = 0;
        while (kept < ORDERS && keep(shop, "/order-" + kept)) {
            kept++;
            LOG.info("order {} is kept", kept);
        }
        LOG.info("{} of {} orders are kept", kept, ORDERS);
        LOG.info("the server is {}", server.isRunning() ? "running" : "down");
        System.exit(0);
    }

    private static boolean keep(ZooKeeper shop, String path) throws InterruptedException {
        CountDownLatch answered = new CountDownLatch(1);
        int[] code = {Code.OPERATIONTIMEOUT.intValue()};
        shop.create(path, new byte[10], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, (result, at, context, name) -> {
            code[0] = result;
            answered.countDown();
        }, null);
        if (!answered.await(PATIENCE_S, TimeUnit.SECONDS)) {
            LOG.warn("no answer for {} in {} s", path, PATIENCE_S);
        }
        return code[0] == Code.OK.intValue();
    }
}
