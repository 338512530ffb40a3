import java.io.File;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.h2.tools.Server;
import org.infinispan.Cache;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.factories.threads.EnhancedQueueExecutorFactory;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.notifications.Listener;
import org.infinispan.notifications.cachelistener.annotation.PersistenceAvailabilityChanged;
import org.infinispan.notifications.cachelistener.event.PersistenceAvailabilityChangedEvent;
import org.infinispan.persistence.jdbc.configuration.JdbcStringBasedStoreConfigurationBuilder;
import org.jboss.logging.Logger;

/** A warehouse whose stock is cached, and kept in a database that goes down in the end: Workload ARTICLES ROUNDS. */
public class Workload {
    private static final Logger LOG = Logger.getLogger("warehouse");
    private static final int PATIENCE_S = 8;
    private static final int TRIES = 40;

    public static void main(String[] arguments) {
        try {
            System.exit(run(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1])) ? 0 : 1);
        } catch (Throwable e) { // threads of the cache would keep the process alive
            LOG.error("The warehouse fails", e);
            System.exit(2);
        }
    }

    private static boolean run(int articles, int rounds) throws Exception {
        Server database = Server.createTcpServer("-tcpPort", "0", "-baseDir", new File("database").getAbsolutePath(), "-ifNotExists").start();
        ConfigurationBuilder builder = new ConfigurationBuilder();
        builder.memory().maxCount(5); // most reads go to the database
        builder.persistence().availabilityInterval(150).connectionAttempts(3)
                .addStore(JdbcStringBasedStoreConfigurationBuilder.class)
                .table().createOnStart(true).tableNamePrefix("STOCK")
                .idColumnName("ID").idColumnType("VARCHAR(255)")
                .dataColumnName("DATA").dataColumnType("VARBINARY(1000)")
                .timestampColumnName("TS").timestampColumnType("BIGINT")
                .segmentColumnName("SEGMENT").segmentColumnType("INT")
                .connectionPool().driverClass("org.h2.Driver").username("sa").password("")
                .connectionUrl("jdbc:h2:tcp://127.0.0.1:" + database.getPort() + "/./stock;DB_CLOSE_DELAY=-1");
        GlobalConfigurationBuilder global = new GlobalConfigurationBuilder().nonClusteredDefault();
        global.blockingThreadPool().threadPoolFactory(EnhancedQueueExecutorFactory.create(1, 100)); // a small one
        DefaultCacheManager manager = new DefaultCacheManager(global.build());
        manager.defineConfiguration("stock", builder.build());
        Cache<String, Integer> stock = manager.getCache("stock");
        Watch watch = new Watch();
        stock.addListener(watch);

        Set<String> leftOut = new HashSet<>();
        for (int round = 1; round <= rounds; round++) {
            int sold = 0;
            for (int article = 1; article <= articles; article++) {
                sold += sell(stock, "article-" + article, 1 + article % 3, leftOut);
                Thread.sleep(2);
            }
            LOG.infof("Round %d: %d pieces sold of %d articles", round, sold, articles);
        }

        if (!watch.sees(true)) {
            throw new IllegalStateException("The store is not available, though its database is up");
        }
        LOG.info("The database goes down");
        database.stop();
        boolean noticed = watch.sees(false);
        if (noticed) {
            LOG.info("The cache has noticed: the warehouse is closed");
        } else {
            LOG.errorf("The database has been down for %d s, and the cache still says that it is available", PATIENCE_S);
        }
        return noticed;
    }

    /** An order is tried again for a while; an article whose order is not answered is no longer sold. */
    private static int sell(Cache<String, Integer> stock, String article, int pieces, Set<String> leftOut) throws Exception {
        for (int attempt = 1; attempt <= TRIES && !leftOut.contains(article); attempt++) {
            try {
                Integer before = stock.getAsync(article).get(2, TimeUnit.SECONDS);
                stock.putAsync(article, (before == null ? 1000 : before) - pieces).get(2, TimeUnit.SECONDS);
                return pieces;
            } catch (ExecutionException e) {
                LOG.warnf("%s is not sold yet: %s", article, e.getCause().getMessage());
                Thread.sleep(100);
            } catch (TimeoutException e) {
                LOG.warnf("%s is not sold any more: no answer", article);
                leftOut.add(article);
            }
        }
        return 0;
    }

    /** What the cache says of its store. */
    @Listener
    public static final class Watch {
        private boolean available = true;

        @PersistenceAvailabilityChanged
        public synchronized void changed(PersistenceAvailabilityChangedEvent event) {
            LOG.infof("The store is %s", event.isAvailable() ? "available" : "not available");
            available = event.isAvailable();
            notifyAll();
        }

        synchronized boolean sees(boolean expected) throws InterruptedException {
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
            while (available != expected && System.nanoTime() < until) {
                wait(100);
            }
            return available == expected;
        }
    }
}
