import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Two servers elect a leader and keep orders; a third one joins them, and more orders are kept: Workload ORDERS BYTES. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final int SERVERS = 3;
    private static final int SESSION_MS = 6000;
    private static final long JOINING_MS = 12000; // an election with all its time limits takes less

    /** A server that can be asked how it is. */
    private static final class Server extends QuorumPeerMain {
        final int id;
        final int learnersPort;

        Server(int id, int learnersPort) {
            this.id = id;
            this.learnersPort = learnersPort;
        }

        void start(Path config) {
            Thread thread = new Thread(() -> {
                MDC.put("myid", String.valueOf(id));
                try {
                    initializeAndRun(new String[] {config.toString()});
                } catch (Exception e) {
                    LOG.error("Server {} cannot start", id, e);
                }
            }, "server-" + id);
            thread.setDaemon(true);
            thread.start();
        }

        boolean serves() {
            ZooKeeperServer active = quorumPeer == null ? null : quorumPeer.getActiveServer();
            return active != null && active.isRunning();
        }

        boolean leads() {
            return quorumPeer != null && quorumPeer.getPeerState() == QuorumPeer.ServerState.LEADING;
        }

        /** Whether somebody listens where learners connect. */
        boolean acceptsLearners() {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", learnersPort), 1000);
                return true;
            } catch (IOException e) {
                return false;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int orders = Integer.parseInt(arguments[0]);
        byte[] content = new byte[Integer.parseInt(arguments[1])];
        List<Integer> ports = freePorts(3 * SERVERS);
        StringBuilder members = new StringBuilder();
        List<String> clients = new ArrayList<>();
        for (int id = 1; id <= SERVERS; id++) {
            int first = 3 * (id - 1);
            String client = "127.0.0.1:" + ports.get(first + 2);
            members.append(String.format("server.%d=127.0.0.1:%d:%d:participant;%s%n", id, ports.get(first), ports.get(first + 1), client));
            clients.add(client);
        }
        List<Server> servers = new ArrayList<>();
        boolean all = true;
        // The first two need each other, so that the leader is 3 in each run.
        for (int[] together : new int[][] {{3, 2}, {1}}) {
            for (int id : together) {
                Server server = new Server(id, ports.get(3 * (id - 1)));
                server.start(configured(id, members.toString()));
                servers.add(server);
            }
            all &= within(JOINING_MS, () -> servers.stream().allMatch(Server::serves));
            all &= keep(orders, content, clients.get(servers.get(servers.size() - 1).id - 1), servers.size());
        }
        for (Server outside : servers.stream().filter(server -> !server.serves()).collect(Collectors.toList())) {
            LOG.error("Server {} does not join", outside.id);
            for (Server leader : servers.stream().filter(server -> server.leads() && server.serves()).collect(Collectors.toList())) {
                LOG.error("Server {} leads and serves, and {} learners", leader.id, leader.acceptsLearners() ? "accepts" : "refuses");
            }
        }
        System.exit(all ? 0 : 1);
    }

    private static List<Integer> freePorts(int count) throws Exception {
        List<ServerSocket> open = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            open.add(new ServerSocket(0));
            ports.add(open.get(i).getLocalPort());
        }
        for (ServerSocket socket : open) {
            socket.close();
        }
        return ports;
    }

    private static Path configured(int id, String members) throws Exception {
        Path data = Files.createDirectories(Paths.get("data-" + id)).toAbsolutePath();
        Files.writeString(data.resolve("myid"), String.valueOf(id));
        Path dynamic = Files.writeString(data.resolve("members"), members);
        String config = "tickTime=500\ninitLimit=6\nsyncLimit=5\nadmin.enableServer=false\n";
        return Files.writeString(data.resolve("zoo.cfg"), config + "dataDir=" + data + "\ndynamicConfigFile=" + dynamic + "\n");
    }

    private static boolean within(long milliseconds, BooleanSupplier holds) throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
        while (!holds.getAsBoolean() && System.nanoTime() < until) {
            Thread.sleep(100);
        }
        return holds.getAsBoolean();
    }

    /** Orders in one server, which is given up when it does not answer. */
    private static boolean keep(int orders, byte[] content, String server, int prefix) throws Exception {
        CountDownLatch up = new CountDownLatch(1);
        ZooKeeper session = new ZooKeeper(server, SESSION_MS, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                up.countDown();
            }
        });
        int kept = 0;
        if (up.await(4, TimeUnit.SECONDS)) {
            for (; kept < orders; kept++) {
                CountDownLatch answered = new CountDownLatch(1);
                int[] code = {-1};
                session.create("/order-" + prefix + "-" + kept, content, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, (rc, p, context, name) -> {
                    code[0] = rc;
                    answered.countDown();
                }, null);
                if (!answered.await(4, TimeUnit.SECONDS) || code[0] != KeeperException.Code.OK.intValue()) {
                    LOG.error("No answer for order {} of {}", kept, orders);
                    break;
                }
            }
        }
        Thread thread = new Thread(() -> {
            try {
                session.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "closing");
        thread.setDaemon(true);
        thread.start();
        thread.join(1000);
        LOG.info("{} of {} orders are kept in {} servers", kept, orders, prefix);
        return kept == orders;
    }
}
