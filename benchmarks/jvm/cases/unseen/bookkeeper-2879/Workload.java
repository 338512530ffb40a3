import java.io.File;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.client.BookKeeperAdmin;
import org.apache.bookkeeper.client.DefaultEnsemblePlacementPolicy;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.common.component.ComponentStarter;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.server.Main;
import org.apache.bookkeeper.server.conf.BookieConfiguration;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One bookie with several journals, and somebody who writes to many ledgers by turns. Arguments: journals, ledgers, entries of each. */
public final class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final byte[] PASSWORD = "ledger".getBytes(StandardCharsets.UTF_8);

    public static void main(String[] arguments) {
        try {
            run(arguments);
            LOG.info("Done");
            Runtime.getRuntime().halt(0);
        } catch (Throwable error) {
            LOG.error("The workload ends early", error);
            Runtime.getRuntime().halt(1);
        }
    }

    private static void run(String[] arguments) throws Exception {
        int journals = number(arguments, 0, 3);
        int ledgers = number(arguments, 1, 6);
        int entries = number(arguments, 2, 8);
        File here = new File("").getAbsoluteFile();
        ServerCnxnFactory zooKeeper = ServerCnxnFactory.createFactory(0, 20);
        zooKeeper.startup(new ZooKeeperServer(folder(here, "zk/snap"), folder(here, "zk/log"), 2000));
        String metadata = "zk+hierarchical://127.0.0.1:" + zooKeeper.getLocalPort() + "/ledgers";

        ServerConfiguration told = new ServerConfiguration();
        told.setMetadataServiceUri(metadata);
        told.setBookiePort(freePort());
        told.setAllowLoopback(true);
        told.setZkTimeout(4000);
        told.setAdvertisedAddress("127.0.0.1");
        String[] places = new String[journals];
        for (int journal = 0; journal < journals; journal++) {
            places[journal] = folder(here, "journal-" + journal).getPath();
        }
        told.setJournalDirsName(places);
        told.setLedgerDirNames(new String[] {folder(here, "ledgers").getPath()});
        told.setLedgerStorageClass("org.apache.bookkeeper.bookie.InterleavedLedgerStorage");
        told.setEntryLogPerLedgerEnabled(true);
        told.setFlushInterval(300);
        told.setProperty("journalPreAllocSizeMB", 1);
        told.setUseHostNameAsBookieID(false);
        told.setProperty("diskUsageThreshold", 0.999f);
        told.setProperty("diskUsageWarnThreshold", 0.998f);
        BookKeeperAdmin.initNewCluster(told);
        BookKeeperAdmin.format(told, false, true);
        CompletableFuture<Void> bookie = ComponentStarter.startComponent(Main.buildBookieServer(new BookieConfiguration(told)));

        ClientConfiguration wanted = new ClientConfiguration();
        wanted.setMetadataServiceUri(metadata);
        wanted.setAddEntryTimeout(5);
        wanted.setEnsemblePlacementPolicy(DefaultEnsemblePlacementPolicy.class);
        BookKeeper client = new BookKeeper(wanted);
        List<LedgerHandle> open = new ArrayList<>();
        for (int ledger = 0; ledger < ledgers; ledger++) {
            open.add(client.createLedger(1, 1, BookKeeper.DigestType.CRC32, PASSWORD));
        }
        LOG.info("{} ledgers are open", ledgers);
        int failed = 0;
        for (int entry = 0; entry < entries; entry++) {
            for (LedgerHandle ledger : List.copyOf(open)) {
                try {
                    ledger.addEntry(("entry " + entry).getBytes(StandardCharsets.UTF_8));
                } catch (BKException error) {
                    failed++;
                    open.remove(ledger);
                    LOG.warn("Entry {} of ledger {} was not written: {}", entry, ledger.getId(), error.getMessage());
                }
            }
            LOG.info("{} of {} entries of each ledger written", entry + 1, entries);
            Thread.sleep(100);
        }
        if (failed > 0) {
            LOG.error("{} of {} ledgers cannot be written to, and the bookie {}", failed, ledgers, hasEnded(bookie) ? "has ended" : "is running");
        }
    }

    private static boolean hasEnded(CompletableFuture<Void> bookie) throws Exception {
        try {
            bookie.get(5, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException error) {
            return false;
        }
    }

    private static File folder(File parent, String name) throws IOException {
        File folder = new File(parent, name);
        if (!folder.mkdirs()) {
            throw new IOException("cannot make " + folder);
        }
        return folder;
    }

    /** The usual one of bookies, if it is free. */
    private static int freePort() throws IOException {
        for (int port = 3181; port < 3281; port++) {
            try (ServerSocket socket = new ServerSocket(port)) {
                return port;
            } catch (BindException taken) {
                continue;
            }
        }
        throw new IOException("no port is free");
    }

    private static int number(String[] arguments, int place, int otherwise) {
        return arguments.length > place ? Integer.parseInt(arguments[place]) : otherwise;
    }
}
