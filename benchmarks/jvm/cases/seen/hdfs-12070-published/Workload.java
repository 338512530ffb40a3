import java.io.File;
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
 * What was done when the published log was written: a writer dies, one datanode has its replica finalized, and another client
 * asks every second that the lease be recovered.
 */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final int DATANODES = 3, PATIENCE_SECONDS = 15, BYTES = 128 * 1024;

    public static void main(String[] args) throws Exception {
        System.setProperty("java.io.tmpdir", new File(".").getAbsolutePath());  // where the web servers unpack
        Configuration conf = new Configuration();
        conf.set("hdfs.minidfs.basedir", new File("dfs").getAbsolutePath());
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).numDataNodes(DATANODES).build();
        cluster.waitActive();
        Path file = new Path("/testBlockRecoveryRetryAfterFailedRecovery");
        DistributedFileSystem writer = cluster.getFileSystem();
        FSDataOutputStream out = writer.create(file);
        out.write(new byte[BYTES]);
        out.hsync();
        ExtendedBlock block = writer.getClient().getLocatedBlocks(file.toString(), 0).getLastLocatedBlock().getBlock();
        block.setNumBytes(BYTES);
        writer.getClient().closeAllFilesBeingWritten(true);
        cluster.getDataNodes().get(0).getFSDataset().finalizeBlock(block, false);
        DistributedFileSystem rescuer = (DistributedFileSystem) FileSystem.newInstance(cluster.getURI(), conf);
        boolean closed = rescuer.recoverLease(file);
        for (int i = 0; i < PATIENCE_SECONDS && !closed; i++) {
            Thread.sleep(1000);
            closed = rescuer.recoverLease(file);
        }
        if (!closed) LOG.error("{} is still open; {} of {} replicas are recovered", file, recovered(cluster, block), DATANODES);
        cluster.shutdown();
        System.exit(0);
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
}
