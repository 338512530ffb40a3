import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Servers elect a leader; then the snapshot of one of them, taken elsewhere, is asked how much of a transaction log may be
 * sent to a learner: Workload SERVERS LOADS.
 */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);

    /** A server that can be asked how it is. */
    private static final class Server extends QuorumPeerMain {
        void start(int id, Path config) {
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
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        int loads = Integer.parseInt(arguments[1]);
        List<Integer> ports = freePorts(3 * count);
        StringBuilder members = new StringBuilder();
        for (int id = 1; id <= count; id++) {
            int first = 3 * (id - 1);
            members.append(String.format("server.%d=127.0.0.1:%d:%d:participant;127.0.0.1:%d%n", id, ports.get(first), ports.get(first + 1), ports.get(first + 2)));
        }
        List<Server> servers = new ArrayList<>();
        for (int id = 1; id <= count; id++) {
            Server server = new Server();
            server.start(id, configured(id, members.toString()));
            servers.add(server);
        }
        for (int i = 0; i < 150 && !servers.stream().allMatch(Server::serves); i++) {
            Thread.sleep(100);
        }
        LOG.info("{} of {} servers serve", servers.stream().filter(Server::serves).count(), count);
        copySnapshot(Paths.get("data-1", "version-2"), Paths.get("bar", "version-2"));
        int answered = 0;
        for (int i = 0; i < loads; i++) {
            ZKDatabase database = new ZKDatabase(new FileTxnSnapLog(new File("foo"), new File("bar")));
            database.loadDataBase();
            try {
                LOG.info("At most {} bytes of log for a learner", database.calculateTxnLogSizeLimit());
                answered++;
            } catch (RuntimeException e) {
                LOG.error("No answer for a learner", e);
            }
        }
        System.exit(answered == loads ? 0 : 1);
    }

    private static List<Integer> freePorts(int count) throws IOException {
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

    private static Path configured(int id, String members) throws IOException {
        Path data = Files.createDirectories(Paths.get("data-" + id)).toAbsolutePath();
        Files.writeString(data.resolve("myid"), String.valueOf(id));
        Path dynamic = Files.writeString(data.resolve("members"), members);
        String config = "tickTime=400\ninitLimit=10\nsyncLimit=5\nadmin.enableServer=false\n";
        return Files.writeString(data.resolve("zoo.cfg"), config + "dataDir=" + data + "\ndynamicConfigFile=" + dynamic + "\n");
    }

    private static void copySnapshot(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            Path snapshot = files.filter(file -> file.getFileName().toString().startsWith("snapshot.")).sorted().findFirst().get();
            Files.copy(snapshot, to.resolve("snapshot.0"));
        }
    }
}
