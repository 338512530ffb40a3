import java.io.File;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writers die with their files open, and another client recovers the leases, as HBase does with the logs of a dead server.
 * Arguments: how many files, the seed of their sizes.
 */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final int DATANODES = 3, PATIENCE_SECONDS = 12;

    public static void main(String[] args) throws Exception {
        int files = Integer.parseInt(args[0]);
        Random random = new Random(Long.parseLong(args[1]));
        System.setProperty("java.io.tmpdir", new File(".").getAbsolutePath());  // where the web servers unpack
        Configuration conf = new Configuration();
        conf.set("hdfs.minidfs.basedir", new File("dfs").getAbsolutePath());
        conf.setInt("dfs.heartbeat.interval", 1);
        conf.setInt("dfs.replication", DATANODES);
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).numDataNodes(DATANODES).storagesPerDatanode(1).build();
        cluster.waitActive();
        DistributedFileSystem rescuer = (DistributedFileSystem) FileSystem.newInstance(cluster.getURI(), conf);
        for (int i = 0; i < files; i++) {
            Path file = new Path("/wal/" + i);
            ExtendedBlock block = writeAndDie(cluster, conf, file, 1024 + random.nextInt(100_000));
            if (!recover(rescuer, file)) LOG.error("{} is still open; {} of {} replicas are recovered", file, recovered(cluster, block), DATANODES);
        }
        cluster.shutdown();
        System.exit(0);
    }

    /** The last block of a file whose writer synced it and was never heard of again. */
    private static ExtendedBlock writeAndDie(MiniDFSCluster cluster, Configuration conf, Path file, int bytes) throws Exception {
        DistributedFileSystem writer = (DistributedFileSystem) FileSystem.newInstance(cluster.getURI(), conf);
        FSDataOutputStream out = writer.create(file);
        out.write(new byte[bytes]);
        out.hsync();
        ExtendedBlock block = writer.getClient().getLocatedBlocks(file.toString(), 0).getLastLocatedBlock().getBlock();
        writer.getClient().closeAllFilesBeingWritten(true);
        return block;
    }

    /** On how many datanodes the block has a newer generation than its writer gave it. */
    private static int recovered(MiniDFSCluster cluster, ExtendedBlock block) throws Exception {
        int recovered = 0;
        for (DataNode node : cluster.getDataNodes()) {
            Block stored = node.getFSDataset().getStoredBlock(block.getBlockPoolId(), block.getBlockId());
            if (stored != null && stored.getGenerationStamp() > block.getGenerationStamp()) recovered++;
        }
        return recovered;
    }

    private static boolean recover(DistributedFileSystem client, Path file) throws Exception {
        boolean closed = client.recoverLease(file);
        for (int i = 0; i < PATIENCE_SECONDS * 2 && !closed; i++) {
            Thread.sleep(500);
            closed = i % 4 == 3 ? client.recoverLease(file) : client.isFileClosed(file);
        }
        return closed;
    }
}
