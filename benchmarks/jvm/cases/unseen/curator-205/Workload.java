import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Nodes that lead by turns; a leader works off tasks. Arguments: nodes, terms, tasks of a term. */
public final class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("dispatcher");
    private static final long PATIENCE_MS = 6_000;

    public static void main(String[] arguments) throws Exception {
        int nodes = number(arguments, 0, 3);
        int terms = number(arguments, 1, 9);
        int tasks = number(arguments, 2, 3);
        AtomicInteger term = new AtomicInteger();
        AtomicLong lastTerm = new AtomicLong(System.currentTimeMillis());
        CountDownLatch served = new CountDownLatch(terms);
        TestingServer server = new TestingServer();
        CuratorFramework admin = connect(server);
        admin.create().forPath("/tasks");
        for (int number = 0; number < terms * tasks; number++) {
            admin.create().forPath(String.format("/tasks/%03d", number));
        }
        CountDownLatch queued = new CountDownLatch(1);
        for (int node = 1; node <= nodes; node++) {
            String name = "node-" + node;
            LeaderSelector selector = new LeaderSelector(connect(server), "/leader", new LeaderSelectorListenerAdapter() {
                @Override public void takeLeadership(CuratorFramework client) throws Exception {
                    queued.await();
                    if (served.getCount() == 0) {
                        Thread.sleep(PATIENCE_MS);
                    }
                    int number = term.incrementAndGet();
                    lastTerm.set(System.currentTimeMillis());
                    LOG.info("{} leads, term {}", name, number);
                    work(client, tasks);
                    served.countDown();
                }
            });
            selector.setId(name);
            selector.autoRequeue();
            selector.start();
            awaitQueue(admin, node);
        }
        queued.countDown();
        while (!served.await(100, TimeUnit.MILLISECONDS)) {
            if (System.currentTimeMillis() - lastTerm.get() > PATIENCE_MS) {
                List<String> queue = admin.getChildren().forPath("/leader");
                LOG.error("no leader since term {}: {} nodes, {} in the queue", term.get(), nodes, queue.size());
                break;
            }
        }
        LOG.info("{} tasks left", admin.getChildren().forPath("/tasks").size());
        System.exit(0);
    }

    /** They queue in the order in which they are started. */
    private static void awaitQueue(CuratorFramework admin, int length) throws Exception {
        while (admin.checkExists().forPath("/leader") == null || admin.getChildren().forPath("/leader").size() < length) {
            Thread.sleep(20);
        }
    }

    private static void work(CuratorFramework client, int tasks) throws Exception {
        List<String> waiting = client.getChildren().forPath("/tasks");
        waiting.sort(null);
        for (String task : waiting.subList(0, Math.min(tasks, waiting.size()))) {
            try {
                client.delete().guaranteed().forPath("/tasks/" + task);
            } catch (Exception error) {
                LOG.warn("task {} is left to the next leader", task, error);
            }
        }
    }

    private static CuratorFramework connect(TestingServer server) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(server.getConnectString(), 20_000, 10_000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private static int number(String[] arguments, int place, int otherwise) {
        return arguments.length > place ? Integer.parseInt(arguments[place]) : otherwise;
    }
}
