import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.java_websocket.WebSocket;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.server.DefaultSSLWebSocketServerFactory;
import org.java_websocket.server.WebSocketServer;

/** A chat server that speaks TLS, and guests who come one after the other: Workload GUESTS. */
public class Workload {
    private static final Logger LOG = Logger.getLogger("chat");
    private static final int LAST = 3; // guests in a row that must be turned away for the chat to be given up
    private static final char[] PASSWORD = "changeit".toCharArray();

    public static void main(String[] arguments) throws Exception {
        try (InputStream configuration = Workload.class.getResourceAsStream("/logging.properties")) {
            LogManager.getLogManager().readConfiguration(configuration);
        }
        int guests = Integer.parseInt(arguments[0]);
        Chat chat = new Chat(freePort());
        chat.setWebSocketFactory(new DefaultSSLWebSocketServerFactory(tls()));
        chat.start();
        awaitListening(chat.getPort());
        int inARow = 0;
        for (int guest = 1; guest <= guests && inARow < LAST; guest++) {
            // Each guest is somebody else: no session is resumed.
            try (SSLSocket socket = (SSLSocket) tls().getSocketFactory().createSocket("127.0.0.1", chat.getPort())) {
                socket.setSoTimeout(2000);
                LOG.info("Guest " + guest + " hears: " + said(socket, "hello from guest " + guest));
                inARow = 0;
            } catch (IOException e) {
                LOG.log(Level.WARNING, "Guest " + guest + " is turned away", e);
                inARow++;
            }
        }
        if (inARow == LAST) {
            LOG.severe("The last " + LAST + " guests were turned away, nobody can enter any more");
        }
        System.exit(inARow == LAST ? 1 : 0);
    }

    private static SSLContext tls() throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Workload.class.getResourceAsStream("/keystore.p12")) {
            keys.load(in, PASSWORD);
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance("SunX509");
        own.init(keys, PASSWORD);
        TrustManager trusting = new X509TrustManager() {
            @Override
            public void checkClientTrusted(X509Certificate[] chain, String type) { }

            @Override
            public void checkServerTrusted(X509Certificate[] chain, String type) { }

            @Override
            public X509Certificate[] getAcceptedIssuers() {
                return new X509Certificate[0];
            }
        };
        SSLContext context = SSLContext.getInstance("TLSv1.2");
        context.init(own.getKeyManagers(), new TrustManager[] {trusting}, null);
        return context;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static void awaitListening(int port) throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            try {
                new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1")).close();
                Thread.sleep(20);
            } catch (IOException taken) {
                return;
            }
        }
    }

    /** One message to the chat, and what comes back. */
    private static String said(SSLSocket socket, String words) throws IOException {
        OutputStream out = socket.getOutputStream();
        DataInputStream in = new DataInputStream(socket.getInputStream());
        String request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
        out.write(request.getBytes(StandardCharsets.US_ASCII));
        StringBuilder answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\n") < 0) {
            answer.append((char) in.readUnsignedByte());
        }
        if (!answer.toString().startsWith("HTTP/1.1 101")) {
            throw new IOException("the chat answers " + answer.substring(0, answer.indexOf("\r\n")));
        }
        byte[] text = words.getBytes(StandardCharsets.UTF_8);
        byte[] frame = new byte[6 + text.length]; // final, text; masked with zeros
        frame[0] = (byte) 0x81;
        frame[1] = (byte) (0x80 | text.length);
        System.arraycopy(text, 0, frame, 6, text.length);
        out.write(frame);
        in.readUnsignedByte();
        byte[] heard = new byte[in.readUnsignedByte()];
        in.readFully(heard);
        return new String(heard, StandardCharsets.UTF_8);
    }

    private static final class Chat extends WebSocketServer {
        Chat(int port) {
            super(new InetSocketAddress("127.0.0.1", port));
        }

        /** Later versions ask for it. */
        public void onStart() {
            LOG.info("The chat is open");
        }

        @Override
        public void onOpen(WebSocket guest, ClientHandshake handshake) {
            LOG.info("A guest enters");
        }

        @Override
        public void onMessage(WebSocket guest, String message) {
            guest.send(message);
        }

        @Override
        public void onClose(WebSocket guest, int code, String reason, boolean remote) {
            LOG.info("A guest leaves");
        }

        @Override
        public void onError(WebSocket guest, Exception error) {
            LOG.log(Level.WARNING, "Something is wrong with " + (guest == null ? "the chat" : "a guest"), error);
        }
    }
}
