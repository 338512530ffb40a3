import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Nodes that work off tasks by turns, whoever has the lock. Arguments: nodes, turns of each, tasks of a turn. */
public final class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("dispatcher");
    private static final int PATIENCE_S = 5;

    private final AtomicInteger holders = new AtomicInteger();
    private final CountDownLatch queued = new CountDownLatch(1);
    private final int turns;
    private final int tasks;

    private Workload(int turns, int tasks) {
        this.turns = turns;
        this.tasks = tasks;
    }

    public static void main(String[] arguments) throws Exception {
        int nodes = number(arguments, 0, 3);
        Workload workload = new Workload(number(arguments, 1, 3), number(arguments, 2, 3));
        TestingServer server = new TestingServer();
        CuratorFramework admin = connect(server);
        admin.create().forPath("/tasks");
        for (int task = 0; task < nodes * workload.turns * workload.tasks; task++) {
            admin.create().forPath(String.format("/tasks/%03d", task));
        }
        List<Thread> threads = new ArrayList<>();
        for (int node = 1; node <= nodes; node++) {
            String name = "node-" + node;
            CuratorFramework client = connect(server);
            Thread thread = new Thread(() -> workload.node(name, client), name);
            thread.start();
            threads.add(thread);
            awaitQueue(admin, node);
        }
        workload.queued.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        LOG.info("{} tasks are left", admin.getChildren().forPath("/tasks").size());
        System.exit(0);
    }

    private void node(String name, CuratorFramework client) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/lock");
        for (int turn = 1; turn <= turns; turn++) {
            try {
                if (!mutex.acquire(PATIENCE_S, TimeUnit.SECONDS)) {
                    LOG.error("{} gives up: nodes that hold the lock: {}, entries of its queue: {}", name, holders.get(),
                        client.getChildren().forPath("/lock").size());
                    return;
                }
            } catch (Exception error) {
                LOG.warn("{} misses its turn: {}", name, error.toString());
                continue;
            }
            holders.incrementAndGet();
            try {
                queued.await();
                LOG.info("{} has turn {}", name, turn);
                work(client);
            } catch (Exception error) {
                LOG.warn("{} leaves its tasks to others: {}", name, error.toString());
            } finally {
                holders.decrementAndGet();
                try {
                    mutex.release();
                } catch (Exception error) {
                    LOG.warn("{} could not give the lock back: {}", name, error.toString());
                }
            }
        }
    }

    private void work(CuratorFramework client) throws Exception {
        List<String> waiting = client.getChildren().forPath("/tasks");
        waiting.sort(null);
        for (String task : waiting.subList(0, Math.min(tasks, waiting.size()))) {
            client.delete().guaranteed().forPath("/tasks/" + task);
        }
    }

    /** They queue in the order in which they are started. */
    private static void awaitQueue(CuratorFramework admin, int length) throws Exception {
        long end = System.currentTimeMillis() + 2_000;
        while (System.currentTimeMillis() < end
                && (admin.checkExists().forPath("/lock") == null || admin.getChildren().forPath("/lock").size() < length)) {
            Thread.sleep(20);
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
