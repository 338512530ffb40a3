import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.ReconfigurationException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Disks are added to running datanodes, files are written, and one machine is rebooted after maintenance.
 * A datanode may lose one disk. Arguments: how many files, which datanode is rebooted, the seed of the files' sizes.
 */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final String DIRECTORIES = "dfs.datanode.data.dir";
    private static final int DATANODES = 3, PATIENCE_SECONDS = 15;

    public static void main(String[] args) throws Exception {
        int files = Integer.parseInt(args[0]);
        int rebooted = Integer.parseInt(args[1]);
        Random random = new Random(Long.parseLong(args[2]));
        System.setProperty("java.io.tmpdir", new File(".").getAbsolutePath());  // where the web servers unpack
        Configuration conf = new Configuration();
        conf.set("hdfs.minidfs.basedir", new File("dfs").getAbsolutePath());
        conf.setInt("dfs.heartbeat.interval", 1);
        conf.setInt("dfs.replication", DATANODES);
        conf.setInt("dfs.datanode.failed.volumes.tolerated", 1);
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).numDataNodes(DATANODES).build();
        for (int i = 0; i < DATANODES; i++) {
            if (!comesUp(cluster.getDataNodes().get(i))) cluster.restartDataNode(i);
        }
        cluster.waitActive();
        for (DataNode node : cluster.getDataNodes()) addDisk(node);
        FileSystem client = cluster.getFileSystem();
        for (int i = 0; i < files; i++) {
            try (FSDataOutputStream out = client.create(new org.apache.hadoop.fs.Path("/data/" + i))) {
                out.write(new byte[1 + random.nextInt(50_000)]);
            }
        }
        if (!reboot(cluster, rebooted)) LOG.error("Datanode {} does not serve again", rebooted);
        cluster.shutdown();
        System.exit(0);
    }

    private static void addDisk(DataNode node) throws Exception {
        String directories = node.getConf().get(DIRECTORIES);
        Path disk = Files.createDirectories(Paths.get("dfs", "added-" + node.getIpcPort()).toAbsolutePath());
        try {
            node.getConf().set(DIRECTORIES, node.reconfigurePropertyImpl(DIRECTORIES, directories + "," + disk.toUri()));
        } catch (ReconfigurationException e) {
            LOG.warn("Disk {} could not be added", disk, e);
        }
    }

    /** Whether the datanode serves again after a time so long that what it remembered of its replicas is out of date. */
    private static boolean reboot(MiniDFSCluster cluster, int index) throws Exception {
        DataNodeProperties machine = cluster.stopDataNode(index);
        List<Path> caches;
        try (Stream<Path> all = Files.walk(Paths.get("dfs"))) {
            caches = all.filter(p -> p.getFileName().toString().equals("replicas")).collect(Collectors.toList());
        }
        for (Path cache : caches) cache.toFile().setLastModified(System.currentTimeMillis() - 3_600_000);
        cluster.restartDataNode(machine);
        return comesUp(cluster.getDataNodes().get(DATANODES - 1));
    }

    private static boolean comesUp(DataNode node) throws Exception {
        for (int i = 0; i < PATIENCE_SECONDS * 10 && node.isDatanodeUp() && !node.isDatanodeFullyStarted(); i++) Thread.sleep(100);
        return node.isDatanodeUp() && node.isDatanodeFullyStarted();
    }
}
