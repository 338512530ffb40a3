import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.exceptions.JedisException;

/** A shop that looks prices up and books its orders in pipelines, over a pool of one connection: Workload ORDERS. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("shop");
    private static final int LAST = 5; // orders in a row that must fail for the shop to close

    public static void main(String[] arguments) throws Exception {
        int orders = Integer.parseInt(arguments[0]);
        Redis server = new Redis();
        server.start();
        GenericObjectPoolConfig<Connection> config = new GenericObjectPoolConfig<>();
        config.setMaxTotal(1);
        config.setMaxWait(Duration.ofMillis(100));
        JedisPooled redis = new JedisPooled(config, "127.0.0.1", server.port());
        redis.set("price:tea", "4");
        redis.set("price:coffee", "5");
        int booked = 0;
        int inARow = 0;
        for (int order = 1; order <= orders && inARow < LAST; order++) {
            try {
                String article = order % 3 == 0 ? "coffee" : "tea";
                int price = Integer.parseInt(redis.get("price:" + article));
                if (order % 4 == 0) {
                    try (Pipeline pipeline = redis.pipelined()) {
                        pipeline.set("order:" + order, article);
                        pipeline.incrBy("takings", price);
                        pipeline.incrBy("sold:" + article, 1);
                    }
                } else {
                    redis.incrBy("takings", price);
                }
                LOG.info("Order {} booked: {}", order, article);
                booked++;
                inARow = 0;
            } catch (JedisException e) {
                LOG.error("Order {} is not booked", order, e);
                inARow++;
            }
        }
        LOG.info("{} of {} orders booked", booked, orders);
        if (inARow == LAST) {
            LOG.error("The shop closes: none of the last {} orders could be booked, {} connections in use", LAST, redis.getPool().getNumActive());
        }
        System.exit(inARow == LAST ? 1 : 0);
    }

    /** As much of a Redis as the shop needs. */
    private static final class Redis extends Thread {
        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final Map<String, String> values = new ConcurrentHashMap<>();

        Redis() throws IOException {
            super("redis");
            setDaemon(true);
        }

        int port() {
            return socket.getLocalPort();
        }

        @Override
        public void run() {
            while (true) {
                try {
                    Socket client = socket.accept();
                    Thread thread = new Thread(() -> serve(client), "redis-client");
                    thread.setDaemon(true);
                    thread.start();
                } catch (IOException e) {
                    return;
                }
            }
        }

        private void serve(Socket client) {
            try (client) {
                InputStream in = new BufferedInputStream(client.getInputStream());
                OutputStream out = client.getOutputStream();
                ByteArrayOutputStream answers = new ByteArrayOutputStream();
                while (true) {
                    answers.write(answer(command(in)).getBytes(StandardCharsets.UTF_8));
                    if (in.available() == 0) { // all answers to a pipeline at once
                        answers.writeTo(out);
                        out.flush();
                        answers.reset();
                    }
                }
            } catch (IOException e) {
                LOG.debug("A client of Redis is gone");
            }
        }

        private static List<String> command(InputStream in) throws IOException {
            int parts = Integer.parseInt(line(in).substring(1));
            List<String> command = new ArrayList<>();
            for (int i = 0; i < parts; i++) {
                byte[] part = in.readNBytes(Integer.parseInt(line(in).substring(1)));
                in.readNBytes(2);
                command.add(new String(part, StandardCharsets.UTF_8));
            }
            return command;
        }

        private static String line(InputStream in) throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new EOFException();
                }
                line.append((char) c);
            }
            return line.toString().trim();
        }

        private String answer(List<String> command) {
            switch (command.get(0)) {
                case "GET":
                    String value = values.get(command.get(1));
                    return value == null ? "$-1\r\n" : "$" + value.length() + "\r\n" + value + "\r\n";
                case "SET":
                    values.put(command.get(1), command.get(2));
                    return "+OK\r\n";
                case "INCRBY":
                    long by = Long.parseLong(command.get(2));
                    return ":" + values.merge(command.get(1), "" + by, (old, more) -> "" + (Long.parseLong(old) + by)) + "\r\n";
                default:
                    return "+OK\r\n";
            }
        }
    }
}
