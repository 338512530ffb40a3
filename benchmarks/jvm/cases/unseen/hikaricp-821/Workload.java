import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.File;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.h2.tools.Server;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A shop that books orders over a pool, and keeps every fourth one in an archive over another: Workload ORDERS POOL ARCHIVE. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("shop");
    private static final int TRIES = 12;

    public static void main(String[] arguments) {
        try {
            System.exit(run(Integer.parseInt(arguments[0]), arguments[1], arguments[2]) ? 0 : 1);
        } catch (Throwable e) { // threads of the pools would keep the process alive
            LOG.error("The shop fails", e);
            System.exit(2);
        }
    }

    private static boolean run(int orders, String main, String kept) throws Exception {
        Server server = Server.createTcpServer("-tcpPort", "0", "-baseDir", new File("database").getAbsolutePath()).start();
        String url = "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/./";
        HikariDataSource archive = pool(kept, url, "TRANSACTION_READ_COMMITTED");
        if (!done(kept, archive, "CREATE TABLE kept(id INT PRIMARY KEY, article VARCHAR(20))")) {
            return false;
        }
        HikariDataSource shop = pool(main, url, null);
        boolean good = done(main, shop, "CREATE TABLE orders(id INT PRIMARY KEY, article VARCHAR(20))");
        int booked = 0;
        for (int order = 1; order <= orders && good; order++) {
            String article = order % 3 == 0 ? "coffee" : "tea";
            good = done(main, shop, "INSERT INTO orders VALUES(" + order + ", '" + article + "')");
            if (good && order % 4 == 0) {
                good = done(kept, archive, "INSERT INTO kept VALUES(" + order + ", '" + article + "')");
            }
            if (good) {
                booked++;
                LOG.info("Order {} booked: {}", order, article);
            }
        }
        LOG.info("{} of {} orders booked", booked, orders);
        return good;
    }

    private static HikariDataSource pool(String name, String url, String isolation) {
        HikariConfig config = new HikariConfig();
        config.setPoolName(name);
        config.setJdbcUrl(url + name);
        config.setUsername("sa");
        config.setMinimumIdle(1);
        config.setMaximumPoolSize(3);
        config.setConnectionTimeout(1000);
        config.setInitializationFailFast(false); // the shop may start before its databases
        if (isolation != null) {
            config.setTransactionIsolation(isolation);
        }
        return new HikariDataSource(config);
    }

    /** What cannot be done is tried again for a while; what is there already was done. */
    private static boolean done(String name, DataSource pool, String sql) throws InterruptedException {
        SQLException last = null;
        int withoutConnection = 0;
        for (int attempt = 1; attempt <= TRIES; attempt++) {
            Connection connection;
            try {
                connection = pool.getConnection();
            } catch (SQLException e) {
                LOG.warn("No connection to {}: {}", name, e.getMessage());
                withoutConnection++;
                last = e;
                continue;
            }
            try (Connection closed = connection; Statement statement = connection.createStatement()) {
                statement.executeUpdate(sql);
                return true;
            } catch (SQLException e) {
                if (e.getErrorCode() == 23505 || e.getErrorCode() == 42101) {
                    return true;
                }
                LOG.warn("Not done in {}: {}", name, e.getMessage());
                last = e;
                Thread.sleep(100);
            }
        }
        LOG.error("The shop closes: {} of {} times no connection to {}, though its database is up", withoutConnection, TRIES, name, last);
        return false;
    }
}
