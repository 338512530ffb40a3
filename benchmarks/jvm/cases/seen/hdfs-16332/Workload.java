import java.io.File;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.minikdc.MiniKdc;
import org.apache.hadoop.security.UserGroupInformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files of a cluster with Kerberos are read again and again: some have two replicas, some have but one.
 * Arguments: how many files of each kind, how often all are read, the seed of their order.
 */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger(Workload.class);
    private static final int DATANODES = 2, PATIENCE_SECONDS = 10;

    public static void main(String[] args) throws Exception {
        int files = Integer.parseInt(args[0]), times = Integer.parseInt(args[1]);
        Random random = new Random(Long.parseLong(args[2]));
        MiniKdc kdc = new MiniKdc(MiniKdc.createConf(), Files.createDirectories(Paths.get("kdc")).toFile());
        kdc.start();
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(secure(kdc)).numDataNodes(DATANODES).storagesPerDatanode(1).build();
        cluster.waitActive();
        FileSystem client = cluster.getFileSystem();
        List<Path> all = new ArrayList<>();
        for (short replicas = 1; replicas <= DATANODES; replicas++) {
            for (int i = 0; i < files; i++) {
                Path file = new Path("/" + replicas + "/" + i);
                try (FSDataOutputStream out = client.create(file, replicas)) {
                    out.write(new byte[1 + random.nextInt(100_000)]);
                }
                all.add(file);
            }
        }
        ExecutorService reader = Executors.newSingleThreadExecutor(task -> new Thread(task, "reader"));
        for (int i = 0; i < times; i++) {
            Collections.shuffle(all, random);
            for (Path file : all) {
                Future<Integer> bytes = reader.submit(() -> read(client, file));
                try {
                    bytes.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                } catch (TimeoutException e) {
                    LOG.error("{} is not read after {} seconds", file, PATIENCE_SECONDS);
                    System.exit(0);
                }
            }
        }
        System.exit(0);
    }

    private static Configuration secure(MiniKdc kdc) throws Exception {
        File keytab = new File("kdc/hdfs.keytab");
        kdc.createPrincipal(keytab, "hdfs/localhost", "HTTP/localhost");
        System.setProperty("java.io.tmpdir", new File(".").getAbsolutePath());  // where the web servers unpack
        Configuration conf = new Configuration();
        conf.set("hdfs.minidfs.basedir", new File("dfs").getAbsolutePath());
        conf.set("hadoop.security.authentication", "kerberos");
        for (String server : new String[] {"namenode", "datanode"}) {
            conf.set("dfs." + server + ".kerberos.principal", "hdfs/localhost@" + kdc.getRealm());
            conf.set("dfs." + server + ".keytab.file", keytab.getAbsolutePath());
        }
        conf.set("dfs.web.authentication.kerberos.principal", "HTTP/localhost@" + kdc.getRealm());
        conf.set("dfs.web.authentication.kerberos.keytab", keytab.getAbsolutePath());
        conf.setBoolean("dfs.block.access.token.enable", true);
        conf.set("dfs.data.transfer.protection", "authentication");
        conf.setBoolean("ignore.secure.ports.for.testing", true);  // no certificates for HTTPS
        conf.setInt("dfs.client.socketcache.capacity", 0);  // as with many datanodes: each read connects
        conf.setInt("dfs.client.retry.window.base", 10_000_000);  // what is slow, is very slow
        UserGroupInformation.setConfiguration(conf);
        UserGroupInformation.loginUserFromKeytab("hdfs/localhost@" + kdc.getRealm(), keytab.getAbsolutePath());
        return conf;
    }

    private static int read(FileSystem client, Path file) throws Exception {
        byte[] buffer = new byte[4096];
        int bytes = 0;
        try (FSDataInputStream in = client.open(file)) {
            for (int got = in.read(buffer); got > 0; got = in.read(buffer)) bytes += got;
        }
        return bytes;
    }
}
