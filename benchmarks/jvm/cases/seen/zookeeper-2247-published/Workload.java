import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

/** Servers in one process, and a client that keeps orders in them: Workload ORDERS BYTES FIRST-SERVER SERVERS. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final int SESSION_MS = 6000;
    private static final long PATIENCE_MS = 10000; // for one order: an election takes less, and each server is tried

    /** A server that can be asked how it is. */
    private static final class Server extends QuorumPeerMain {
        final int id;

        Server(int id) {
            this.id = id;
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
    }

    public static void main(String[] arguments) throws Exception {
        int orders = Integer.parseInt(arguments[0]);
        byte[] content = new byte[Integer.parseInt(arguments[1])];
        int count = Integer.parseInt(arguments[3]);
        List<Integer> ports = freePorts(3 * count);
        StringBuilder members = new StringBuilder();
        List<String> clients = new ArrayList<>();
        for (int id = 1; id <= count; id++) {
            int first = 3 * (id - 1);
            String client = "127.0.0.1:" + ports.get(first + 2);
            members.append(String.format("server.%d=127.0.0.1:%d:%d:participant;%s%n", id, ports.get(first), ports.get(first + 1), client));
            clients.add(client);
        }
        List<Server> servers = new ArrayList<>();
        // The last two need each other, so that the leader is the last one in each run; the others follow.
        for (int id = count; id >= 1; id--) {
            Server server = new Server(id);
            server.start(configured(id, members.toString()));
            servers.add(server);
            if (servers.size() >= 2) {
                await(servers);
            }
        }
        int kept = 0;
        try (Client client = new Client(clients, Integer.parseInt(arguments[2]) - 1)) {
            while (kept < orders && client.keeps("/order-" + kept, content)) {
                kept++;
            }
        }
        LOG.info("{} of {} orders are kept", kept, orders);
        for (Server server : servers) {
            if (server.leads() && !server.serves()) {
                LOG.error("Server {} leads, but does not serve", server.id);
            }
        }
        System.exit(kept == orders ? 0 : 1);
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
        String config = "tickTime=400\ninitLimit=10\nsyncLimit=5\nadmin.enableServer=false\n";
        return Files.writeString(data.resolve("zoo.cfg"), config + "dataDir=" + data + "\ndynamicConfigFile=" + dynamic + "\n");
    }

    private static void await(List<Server> servers) throws InterruptedException {
        for (int i = 0; i < 200 && !servers.stream().allMatch(Server::serves); i++) {
            Thread.sleep(100);
        }
    }

    /** Goes to the next server where it must, as long as there is patience. */
    private static final class Client implements AutoCloseable {
        private final List<String> servers;
        private int next;
        private ZooKeeper session;

        Client(List<String> servers, int first) {
            this.servers = servers;
            this.next = first;
        }

        boolean keeps(String path, byte[] content) throws Exception {
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS);
            while (System.nanoTime() < until) {
                try {
                    if (session == null) {
                        session = connected();
                    }
                    CountDownLatch answered = new CountDownLatch(1);
                    int[] code = {-1};
                    session.create(path, content, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, (rc, p, context, name) -> {
                        code[0] = rc;
                        answered.countDown();
                    }, null);
                    boolean told = answered.await(3, TimeUnit.SECONDS);
                    if (told && (code[0] == 0 || code[0] == KeeperException.Code.NODEEXISTS.intValue())) {
                        return true;
                    }
                    LOG.warn("No answer for {}, trying again", path);
                } catch (IllegalStateException e) {
                    LOG.warn("No server to connect to, trying again");
                }
                close();
                Thread.sleep(100);
            }
            LOG.error("Giving up on {}", path);
            return false;
        }

        private ZooKeeper connected() throws Exception {
            CountDownLatch up = new CountDownLatch(1);
            ZooKeeper fresh = new ZooKeeper(servers.get(next++ % servers.size()), SESSION_MS, event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                    up.countDown();
                }
            });
            if (!up.await(3, TimeUnit.SECONDS)) {
                leave(fresh);
                throw new IllegalStateException("not connected");
            }
            return fresh;
        }

        @Override
        public void close() {
            if (session != null) {
                leave(session);
                session = null;
            }
        }

        /** Without waiting for a server that does not answer. */
        private static void leave(ZooKeeper session) {
            Thread thread = new Thread(() -> {
                try {
                    session.close();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "closing");
            thread.setDaemon(true);
            thread.start();
        }
    }
}
