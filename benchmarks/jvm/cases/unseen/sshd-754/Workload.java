import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.config.hosts.HostConfigEntryResolver;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.util.net.SshdSocketAddress;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.forward.AcceptAllForwardingFilter;
import org.apache.sshd.server.keyprovider.SimpleGeneratorHostKeyProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A relay: services behind an SSH server are shown here, one after the other: Workload SERVICES FIRST LAST. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("relay");
    private static final String HOST = "127.0.0.1";
    private static final int IN_A_ROW = 5; // services that must be refused for the relay to give up
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    public static void main(String[] arguments) throws Exception {
        int services = Integer.parseInt(arguments[0]);
        int first = Integer.parseInt(arguments[1]); // between these, the console is shown, too
        int last = Integer.parseInt(arguments[2]);
        SshServer server = SshServer.setUpDefaultServer();
        server.setHost(HOST);
        SimpleGeneratorHostKeyProvider keys = new SimpleGeneratorHostKeyProvider();
        keys.setAlgorithm("EC");
        keys.setKeySize(256);
        server.setKeyPairProvider(keys);
        server.setPasswordAuthenticator((user, password, session) -> user.equals("relay"));
        server.setForwardingFilter(AcceptAllForwardingFilter.INSTANCE);
        server.start();
        LOG.info("The gateway listens at port {}", server.getPort());
        SshClient client = SshClient.setUpDefaultClient();
        client.setServerKeyVerifier((session, address, key) -> true);
        client.setForwardingFilter(AcceptAllForwardingFilter.INSTANCE);
        client.setHostConfigEntryResolver(HostConfigEntryResolver.EMPTY);
        client.start();

        ClientSession session = null;
        SshdSocketAddress console = null;
        int shown = 0;
        int refused = 0;
        for (int service = 1; service <= services && refused < IN_A_ROW; service++) {
            try {
                if (session == null || !session.isOpen()) {
                    session = login(client, server.getPort());
                    console = null;
                    refused = 0;
                }
                if (console == null && service >= first && service <= last) {
                    console = show(session, service());
                    LOG.info("The console is shown at port {}", console.getPort());
                } else if (console != null && service > last) {
                    session.stopLocalPortForwarding(console);
                    console = null;
                    LOG.info("The console is hidden");
                }
                SshdSocketAddress bound = show(session, service());
                int answer = ask(bound.getPort());
                session.stopLocalPortForwarding(bound);
                LOG.info("Service {} was shown at port {} and answered {}", service, bound.getPort(), answer);
                shown++;
                refused = 0;
            } catch (IOException | RuntimeException e) {
                LOG.warn("Service {} was not shown: {}", service, e.toString());
                refused++;
            }
        }
        LOG.info("{} of {} services were shown", shown, services);
        if (refused == IN_A_ROW) {
            LOG.error("The relay gives up: its session is open, but none of the last {} services was shown", refused);
        }
        System.exit(refused == IN_A_ROW ? 1 : 0);
    }

    private static ClientSession login(SshClient client, int port) throws IOException {
        ClientSession session = client.connect("relay", HOST, port).verify(PATIENCE).getSession();
        session.addPasswordIdentity("secret");
        session.auth().verify(PATIENCE);
        LOG.info("Logged in");
        return session;
    }

    private static SshdSocketAddress show(ClientSession session, int port) throws IOException {
        return session.startLocalPortForwarding(new SshdSocketAddress(HOST, 0), new SshdSocketAddress(HOST, port));
    }

    /** A service that answers one client. */
    private static int service() throws IOException {
        ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST));
        Thread thread = new Thread(() -> {
            try (socket; Socket client = socket.accept()) {
                client.getOutputStream().write(client.getInputStream().read() + 1);
            } catch (IOException e) {
                LOG.info("A client is gone: {}", e.getMessage());
            }
        }, "service");
        thread.setDaemon(true);
        thread.start();
        return socket.getLocalPort();
    }

    private static int ask(int port) throws IOException {
        try (Socket socket = new Socket(HOST, port)) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            socket.getOutputStream().write(41);
            return socket.getInputStream().read();
        }
    }
}
