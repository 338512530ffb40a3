import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;

/** A printer that listens to a queue of letters: Workload LETTERS PRINTER. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("printer");
    private static final int PATIENCE_MS = 6000;

    public static void main(String[] arguments) throws Exception {
        int letters = Integer.parseInt(arguments[0]);
        Broker broker = new Broker(letters);
        broker.start();
        CachingConnectionFactory factory = new CachingConnectionFactory("127.0.0.1", broker.port());
        factory.setChannelCacheSize(1);
        factory.setChannelCheckoutTimeout(300); // so the size is a limit, too
        Set<String> printed = ConcurrentHashMap.newKeySet();
        SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(factory);
        container.setQueueNames("letters");
        container.setBeanName(arguments[1]);
        container.setPrefetchCount(1);
        container.setRecoveryInterval(300);
        container.setFailedDeclarationRetryInterval(300);
        container.setMessageListener((Message message) -> {
            String letter = new String(message.getBody(), StandardCharsets.UTF_8);
            LOG.info("Printed {}", letter);
            printed.add(letter);
        });
        container.afterPropertiesSet();
        container.start();

        int before = 0;
        long since = System.nanoTime();
        while (printed.size() < letters && System.nanoTime() - since < PATIENCE_MS * 1_000_000L) {
            Thread.sleep(10);
            if (printed.size() > before) {
                before = printed.size();
                since = System.nanoTime();
            }
        }
        LOG.info("{} of {} letters are printed", printed.size(), letters);
        if (printed.size() < letters) {
            LOG.error("The printer stands still: no letter for {} s, {} connections to the broker", PATIENCE_MS / 1000, broker.connections());
        }
        System.exit(printed.size() < letters ? 1 : 0);
    }

    /** As much of a RabbitMQ as the printer needs: one queue, and one letter at a time. */
    private static final class Broker extends Thread {
        private static final int METHOD = 1;
        private static final int HEADER = 2;
        private static final int BODY = 3;
        private static final int END = 0xCE;

        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
        private final int letters;
        private int next = 1; // letter that nobody has acknowledged

        Broker(int letters) throws IOException {
            super("broker");
            this.letters = letters;
            setDaemon(true);
        }

        int port() {
            return socket.getLocalPort();
        }

        int connections() {
            return clients.size();
        }

        @Override
        public void run() {
            while (true) {
                try {
                    Socket client = socket.accept();
                    client.setTcpNoDelay(true);
                    clients.add(client);
                    Thread thread = new Thread(() -> serve(client), "broker-client");
                    thread.setDaemon(true);
                    thread.start();
                } catch (IOException e) {
                    return;
                }
            }
        }

        private void serve(Socket client) {
            try (client) {
                DataInputStream in = new DataInputStream(new BufferedInputStream(client.getInputStream()));
                OutputStream out = client.getOutputStream();
                in.readNBytes(8); // AMQP 0-9-1
                method(out, 0, 10, 10, start -> {
                    start.writeShort(0x0009);
                    start.writeInt(0); // no properties
                    longString(start, "PLAIN");
                    longString(start, "en_US");
                });
                while (true) {
                    int type = in.readUnsignedByte();
                    int channel = in.readUnsignedShort();
                    byte[] payload = in.readNBytes(in.readInt());
                    in.readUnsignedByte();
                    if (type == METHOD) {
                        answer(out, channel, new DataInputStream(new ByteArrayInputStream(payload)));
                    }
                }
            } catch (IOException e) {
                LOG.info("A client of the broker is gone");
            } finally {
                clients.remove(client);
            }
        }

        private void answer(OutputStream out, int channel, DataInputStream in) throws IOException {
            int kind = in.readUnsignedShort() * 1000 + in.readUnsignedShort();
            switch (kind) {
                case 10011: // connection.start-ok
                    method(out, 0, 10, 30, tune -> {
                        tune.writeShort(2047);
                        tune.writeInt(131072);
                        tune.writeShort(0); // no heartbeats
                    });
                    break;
                case 10040: // connection.open
                    method(out, 0, 10, 41, ok -> ok.writeByte(0));
                    break;
                case 20010: // channel.open
                    method(out, channel, 20, 11, ok -> ok.writeInt(0));
                    break;
                case 50010: // queue.declare
                    in.readUnsignedShort();
                    String queue = shortString(in);
                    method(out, channel, 50, 11, ok -> {
                        shortString(ok, queue);
                        ok.writeInt(letters - next + 1);
                        ok.writeInt(0);
                    });
                    break;
                case 60020: // basic.consume
                    method(out, channel, 60, 21, ok -> shortString(ok, "printer"));
                    deliver(out, channel);
                    break;
                case 60080: // basic.ack
                    next++;
                    deliver(out, channel);
                    break;
                case 10031: // connection.tune-ok
                case 10051: // connection.close-ok
                case 20041: // channel.close-ok
                    break;
                default: // of all others, what confirms them is next, and empty or as long as a tag
                    method(out, channel, kind / 1000, kind % 1000 + 1, kind == 60030 ? ok -> shortString(ok, "printer") : ok -> { });
            }
        }

        private void deliver(OutputStream out, int channel) throws IOException {
            if (next > letters) {
                return;
            }
            byte[] letter = ("letter " + next).getBytes(StandardCharsets.UTF_8);
            ByteArrayOutputStream frames = new ByteArrayOutputStream();
            method(frames, channel, 60, 60, deliver -> {
                shortString(deliver, "printer");
                deliver.writeLong(next);
                deliver.writeByte(0);
                shortString(deliver, "");
                shortString(deliver, "letters");
            });
            frame(frames, HEADER, channel, header -> {
                header.writeShort(60);
                header.writeShort(0);
                header.writeLong(letter.length);
                header.writeShort(0);
            });
            frame(frames, BODY, channel, body -> body.write(letter));
            frames.writeTo(out);
        }

        private static void method(OutputStream out, int channel, int of, int id, Writer arguments) throws IOException {
            frame(out, METHOD, channel, method -> {
                method.writeShort(of);
                method.writeShort(id);
                arguments.write(method);
            });
        }

        private static void frame(OutputStream out, int type, int channel, Writer content) throws IOException {
            ByteArrayOutputStream payload = new ByteArrayOutputStream();
            content.write(new DataOutputStream(payload));
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            DataOutputStream frame = new DataOutputStream(whole);
            frame.writeByte(type);
            frame.writeShort(channel);
            frame.writeInt(payload.size());
            payload.writeTo(frame);
            frame.writeByte(END);
            whole.writeTo(out); // at once
        }

        private static String shortString(DataInputStream in) throws IOException {
            return new String(in.readNBytes(in.readUnsignedByte()), StandardCharsets.UTF_8);
        }

        private static void shortString(DataOutputStream out, String text) throws IOException {
            out.writeByte(text.length());
            out.writeBytes(text);
        }

        private static void longString(DataOutputStream out, String text) throws IOException {
            out.writeInt(text.length());
            out.writeBytes(text);
        }
    }

    private interface Writer {
        void write(DataOutputStream out) throws IOException;
    }
}
