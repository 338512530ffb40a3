import com.google.common.collect.ImmutableMap;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flume.Channel;
import org.apache.flume.ChannelSelector;
import org.apache.flume.Context;
import org.apache.flume.SinkRunner;
import org.apache.flume.channel.ChannelProcessor;
import org.apache.flume.channel.ReplicatingChannelSelector;
import org.apache.flume.channel.file.FileChannel;
import org.apache.flume.conf.Configurables;
import org.apache.flume.sink.DefaultSinkProcessor;
import org.apache.flume.sink.RollingFileSink;
import org.apache.flume.source.NetcatSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Meters that tell an agent of Flume what they read, and are told that it has it: Workload METERS READINGS. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("meters");
    private static final int PATIENCE = 5000;
    private static final int TRIES = 5;

    public static void main(String[] arguments) {
        try {
            System.exit(run(arguments) ? 0 : 1);
        } catch (Throwable e) { // threads of the agent would keep the process alive
            LOG.error("The agent fails", e);
            System.exit(2);
        }
    }

    private static boolean run(String[] arguments) throws Exception {
        int meters = Integer.parseInt(arguments[0]);
        int readings = Integer.parseInt(arguments[1]);
        int port = freePort();

        FileChannel channel = new FileChannel();
        channel.setName("channel");
        configure(channel, ImmutableMap.of("checkpointDir", "checkpoint", "dataDirs", "data", "capacity", "1000",
                "transactionCapacity", "100", "checkpointInterval", "1000"));
        RollingFileSink sink = new RollingFileSink();
        sink.setName("sink");
        Files.createDirectories(new File("readings").toPath());
        configure(sink, ImmutableMap.of("sink.directory", "readings", "sink.rollInterval", "0", "sink.batchSize", "10"));
        sink.setChannel(channel);
        DefaultSinkProcessor processor = new DefaultSinkProcessor();
        processor.setSinks(Collections.singletonList(sink));
        SinkRunner runner = new SinkRunner(processor);
        NetcatSource source = new NetcatSource();
        source.setName("source");
        configure(source, ImmutableMap.of("bind", "127.0.0.1", "port", "" + port));
        ChannelSelector selector = new ReplicatingChannelSelector();
        selector.setChannels(Collections.<Channel>singletonList(channel));
        source.setChannelProcessor(new ChannelProcessor(selector));
        channel.start();
        runner.start();
        source.start();

        boolean good = true;
        for (int meter = 1; meter <= meters && good; meter++) {
            good = tell(port, meter, readings);
        }
        if (good) {
            long until = System.currentTimeMillis() + 10_000;
            while (arrived() < meters * readings && System.currentTimeMillis() < until) {
                Thread.sleep(50);
            }
        }
        source.stop();
        runner.stop();
        channel.stop();
        LOG.info("{} readings of {} meters are stored", arrived(), meters);
        return good && arrived() == meters * readings;
    }

    /** All that a meter has read; a connection that ends is made anew. */
    private static boolean tell(int port, int meter, int readings) throws Exception {
        int told = 0;
        for (int attempt = 1; attempt <= TRIES; attempt++) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout(PATIENCE);
                OutputStream out = socket.getOutputStream();
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                while (told < readings) {
                    out.write(("meter " + meter + " reading " + (told + 1) + " kWh " + (meter * 1000 + told * 7) + "\n").getBytes(StandardCharsets.UTF_8));
                    String answer = in.readLine();
                    if (answer == null) {
                        throw new IOException("the agent has closed the connection");
                    }
                    if (!answer.equals("OK")) {
                        throw new IOException("the agent has answered: " + answer);
                    }
                    told++;
                }
                LOG.info("Meter {}: {} readings told", meter, told);
                return true;
            } catch (SocketTimeoutException e) {
                LOG.error("Meter {} waits for an answer to reading {}: the agent is silent, the connection is open", meter, told + 1);
                return false;
            } catch (IOException e) {
                LOG.warn("Meter {} tries again from reading {}: {}", meter, told + 1, e.getMessage());
                Thread.sleep(200);
            }
        }
        LOG.error("Meter {} gives up", meter);
        return false;
    }

    /** How many different readings are in the files of the sink: one that was told twice is one. */
    private static int arrived() throws IOException {
        Set<String> lines = new TreeSet<>();
        for (File file : new File("readings").listFiles()) {
            lines.addAll(Files.readAllLines(file.toPath()));
        }
        return lines.size();
    }

    private static void configure(Object part, Map<String, String> settings) {
        Configurables.configure(part, new Context(settings));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
