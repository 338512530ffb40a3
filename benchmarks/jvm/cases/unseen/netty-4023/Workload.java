import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.pool.AbstractChannelPoolHandler;
import io.netty.channel.pool.ChannelHealthChecker;
import io.netty.channel.pool.FixedChannelPool;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.string.StringDecoder;
import io.netty.handler.codec.string.StringEncoder;
import io.netty.util.AttributeKey;
import io.netty.util.CharsetUtil;
import io.netty.util.concurrent.Future;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A till that asks prices over a pool of connections, and now and then the time over one of its own: Workload SALES EVERY. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("till");
    private static final AttributeKey<CompletableFuture<String>> ANSWER = AttributeKey.valueOf("answer");
    private static final int TRIES = 5;

    public static void main(String[] arguments) {
        try {
            System.exit(run(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1])) ? 0 : 1);
        } catch (Throwable e) { // threads of Netty would keep the process alive
            LOG.error("The till fails", e);
            System.exit(2);
        }
    }

    private static boolean run(int sales, int every) throws Exception {
        PriceServer server = new PriceServer();
        server.start();
        NioEventLoopGroup group = new NioEventLoopGroup(1);
        Bootstrap bootstrap = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .remoteAddress(InetAddress.getLoopbackAddress(), server.port());
        FixedChannelPool pool = new FixedChannelPool(bootstrap, new AbstractChannelPoolHandler() {
            @Override
            public void channelCreated(Channel channel) {
                LOG.info("A connection for the pool");
                prepare(channel.pipeline());
            }
        }, ChannelHealthChecker.ACTIVE, null, -1, 1, 100);
        Bootstrap direct = bootstrap.clone().handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                prepare(channel.pipeline());
            }
        });
        int sold = 0;
        boolean open = true;
        for (int sale = 1; sale <= sales && open; sale++) {
            if (sale % every == 0) {
                String time = time(direct, sale);
                LOG.info("Sale {}: it is {}", sale, time);
            }
            String price = price(pool, sale, sale % 3 == 0 ? "coffee" : "tea");
            open = price != null;
            if (open) {
                sold++;
                LOG.info("Sale {}: for {}", sale, price);
            }
        }
        LOG.info("{} of {} sold", sold, sales);
        return open;
    }

    /** Asked again if the connection breaks; nothing if the pool gives none any more. */
    private static String price(FixedChannelPool pool, int sale, String article) throws Exception {
        for (int attempt = 1; attempt <= TRIES; attempt++) {
            Future<Channel> acquired = pool.acquire();
            if (!acquired.await(5, TimeUnit.SECONDS)) {
                LOG.error("Sale {}: the pool has given no connection for 5 s, though none is in use", sale);
                return null;
            }
            if (!acquired.isSuccess()) {
                LOG.warn("Sale {}: not connected: {}", sale, acquired.cause().getMessage());
                continue;
            }
            Channel channel = acquired.getNow();
            try {
                return ask(channel, "price " + article);
            } catch (ExecutionException e) {
                LOG.warn("Sale {}: no price: {}", sale, reason(e));
            } catch (TimeoutException e) {
                LOG.warn("Sale {}: no price: {}", sale, reason(e));
                channel.close().await(2, TimeUnit.SECONDS); // its answer may still come
            } finally {
                pool.release(channel).await(2, TimeUnit.SECONDS);
            }
        }
        throw new IOException("no price for sale " + sale);
    }

    private static String time(Bootstrap direct, int sale) throws Exception {
        for (int attempt = 1; attempt <= TRIES; attempt++) {
            Channel channel = null;
            try {
                channel = direct.connect().sync().channel();
                return ask(channel, "time " + sale);
            } catch (IOException | ExecutionException | TimeoutException e) {
                LOG.warn("Sale {}: no time: {}", sale, reason(e));
            } finally {
                if (channel != null) {
                    channel.close().await(2, TimeUnit.SECONDS);
                }
            }
        }
        throw new IOException("no time for sale " + sale);
    }

    private static String ask(Channel channel, String question) throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        channel.attr(ANSWER).set(answer);
        channel.writeAndFlush(question + "\n").addListener(written -> {
            if (!written.isSuccess()) {
                answer.completeExceptionally(written.cause());
            }
        });
        return answer.get(3, TimeUnit.SECONDS);
    }

    private static String reason(Exception e) {
        return e instanceof TimeoutException ? "no answer in time" : e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
    }

    private static void prepare(ChannelPipeline pipeline) {
        pipeline.addLast(new LineBasedFrameDecoder(100), new StringDecoder(CharsetUtil.UTF_8), new StringEncoder(CharsetUtil.UTF_8),
                new SimpleChannelInboundHandler<String>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, String line) {
                        context.channel().attr(ANSWER).get().complete(line);
                    }

                    @Override
                    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                        fail(context.channel(), cause);
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext context) {
                        fail(context.channel(), new IOException("the connection is closed"));
                    }

                    private void fail(Channel channel, Throwable cause) {
                        CompletableFuture<String> answer = channel.attr(ANSWER).get();
                        if (answer != null) {
                            answer.completeExceptionally(cause);
                        }
                    }
                });
    }

    /** Answers every line. */
    private static final class PriceServer extends Thread {
        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

        PriceServer() throws IOException {
            super("prices");
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
                    Thread thread = new Thread(() -> serve(client), "prices-client");
                    thread.setDaemon(true);
                    thread.start();
                } catch (IOException e) {
                    return;
                }
            }
        }

        private static void serve(Socket client) {
            try (client) {
                BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
                OutputStream out = client.getOutputStream();
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    String answer = line.startsWith("time ") ? "9:" + (10 + Integer.parseInt(line.substring(5)) % 50) : line.endsWith("tea") ? "4" : "5";
                    out.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
                    out.flush();
                }
            } catch (IOException e) {
                LOG.debug("A client is gone");
            }
        }
    }
}
