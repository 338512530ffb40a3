import java.io.File;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.hdfs.server.namenode.NNStorage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two namenodes, of which the standby one makes checkpoints and sends them to the active one; in between they change places.
 * Arguments: how many checkpoints before the change, how many after it, the seed of what is written.
 */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final int CHECKPOINT_AFTER = 20, SAVING_SECONDS = 12, SENDING_SECONDS = 3;

    public static void main(String[] args) throws Exception {
        int before = Integer.parseInt(args[0]), after = Integer.parseInt(args[1]);
        Random random = new Random(Long.parseLong(args[2]));
        System.setProperty("java.io.tmpdir", new File(".").getAbsolutePath());  // where the web servers unpack
        Configuration conf = new Configuration();
        conf.set("hdfs.minidfs.basedir", new File("dfs").getAbsolutePath());
        conf.setInt("dfs.namenode.checkpoint.txns", CHECKPOINT_AFTER);
        conf.setInt("dfs.namenode.checkpoint.check.period", 1);
        conf.setInt("dfs.namenode.num.checkpoints.retained", 100);
        conf.setInt("dfs.ha.tail-edits.period", 1);
        MiniDFSNNTopology topology = new MiniDFSNNTopology().addNameservice(new MiniDFSNNTopology.NSConf("ns1")
            .addNN(new MiniDFSNNTopology.NNConf("nn1").setHttpPort(freePort()))
            .addNN(new MiniDFSNNTopology.NNConf("nn2").setHttpPort(freePort())));
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).nnTopology(topology).numDataNodes(0).build();
        cluster.transitionToActive(0);
        for (int i = 0; i < before; i++) checkpoint(cluster, 0, random);
        cluster.transitionToStandby(0);
        cluster.transitionToActive(1);
        List<Long> saved = new ArrayList<>();
        for (int i = 0; i < after; i++) saved.add(checkpoint(cluster, 1, random));
        if (saved.contains(-1L)) LOG.error("The standby namenode makes no checkpoints");
        int last = after;
        while (last > 0 && !has(cluster, 1, saved.get(last - 1))) last--;
        if (last < after) LOG.error("The active namenode misses the last {} images", after - last);
        cluster.shutdown();
        System.exit(0);
    }

    /** Enough is written for a checkpoint. The transaction up to which the standby namenode has saved an image, or -1: none. */
    private static long checkpoint(MiniDFSCluster cluster, int active, Random random) throws Exception {
        int standby = 1 - active;
        DistributedFileSystem client = cluster.getFileSystem(active);
        for (int i = 0; i <= CHECKPOINT_AFTER; i++) client.mkdirs(new Path("/" + random.nextInt(100) + "/" + random.nextInt(1 << 20)));
        long old = newest(cluster, standby);
        cluster.getNameNodeRpc(active).rollEdits();
        if (!within(SAVING_SECONDS, () -> newest(cluster, standby) > old)) return -1;
        long image = newest(cluster, standby);
        within(SENDING_SECONDS, () -> has(cluster, active, image));
        return image;
    }

    private static long newest(MiniDFSCluster cluster, int namenode) {
        return cluster.getNamesystem(namenode).getFSImage().getStorage().getMostRecentCheckpointTxId();
    }

    private static boolean has(MiniDFSCluster cluster, int namenode, long image) {
        return new File(new File(cluster.getNameDirs(namenode).iterator().next()), "current/" + NNStorage.getImageFileName(image)).exists();
    }

    private static boolean within(int seconds, Callable<Boolean> condition) throws Exception {
        for (int i = 0; i < seconds * 10 && !condition.call(); i++) Thread.sleep(100);
        return condition.call();
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
