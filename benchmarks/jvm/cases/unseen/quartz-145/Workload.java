import static org.quartz.JobBuilder.newJob;
import static org.quartz.SimpleScheduleBuilder.simpleSchedule;
import static org.quartz.TriggerBuilder.newTrigger;

import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Date;
import java.util.Properties;
import org.h2.tools.RunScript;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.utils.ConnectionProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A back office: mails and caches may overlap, the ledger's closing may not. Arguments: firings of each, milliseconds between them. */
public final class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("backoffice");
    private static final String URL = "jdbc:h2:mem:backoffice;DB_CLOSE_DELAY=-1";

    /** Where Quartz gets its connections from. */
    public static final class Database implements ConnectionProvider {
        @Override public Connection getConnection() throws SQLException { return DriverManager.getConnection(URL, "sa", ""); }
        @Override public void initialize() { }
        @Override public void shutdown() { }
    }

    public static final class Mail implements Job {
        @Override public void execute(JobExecutionContext context) { LOG.info("mails of {} sent", context.getTrigger().getKey().getName()); }
    }

    public static final class Cache implements Job {
        @Override public void execute(JobExecutionContext context) { LOG.info("cache of {} refreshed", context.getTrigger().getKey().getName()); }
    }

    @DisallowConcurrentExecution
    public static final class Closing implements Job {
        @Override public void execute(JobExecutionContext context) { LOG.info("ledger {} closed", context.getTrigger().getKey().getName()); }
    }

    public static void main(String[] arguments) throws Exception {
        int firings = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 6;
        int between = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 500;
        try (Connection connection = DriverManager.getConnection(URL, "sa", "");
                InputStream tables = Scheduler.class.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_h2.sql")) {
            RunScript.execute(connection, new InputStreamReader(tables, StandardCharsets.UTF_8));
        }
        Properties told = new Properties();
        told.setProperty("org.quartz.scheduler.instanceName", "backoffice");
        told.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
        told.setProperty("org.quartz.scheduler.dbFailureRetryInterval", "1000");
        told.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
        told.setProperty("org.quartz.threadPool.threadCount", "3");
        told.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
        told.setProperty("org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.StdJDBCDelegate");
        told.setProperty("org.quartz.jobStore.dataSource", "db");
        told.setProperty("org.quartz.dataSource.db.connectionProvider.class", Database.class.getName());
        Scheduler scheduler = new StdSchedulerFactory(told).getScheduler();

        long start = System.currentTimeMillis() + 500;
        schedule(scheduler, Mail.class, "orders", start, between, firings);
        schedule(scheduler, Mail.class, "invoices", start + between / 5, between, firings);
        schedule(scheduler, Cache.class, "prices", start + 2 * between / 5, between, firings);
        schedule(scheduler, Closing.class, "europe", start + 3 * between / 5, between, firings);
        schedule(scheduler, Closing.class, "asia", start + 4 * between / 5, 2 * between, (firings + 1) / 2);
        scheduler.start();
        awaitQuiet(scheduler, start + (long) between * firings);
        report();
        scheduler.shutdown(true);
        LOG.info("closed for today");
        System.exit(0);
    }

    private static void schedule(Scheduler scheduler, Class<? extends Job> kind, String name, long start, int between, int firings) throws Exception {
        JobDetail job = newJob(kind).withIdentity(name, "daily").storeDurably().build();
        scheduler.scheduleJob(job, newTrigger().withIdentity(name, "daily").forJob(job).startAt(new Date(start))
            .withSchedule(simpleSchedule().withIntervalInMilliseconds(between).withRepeatCount(firings - 1)).build());
        LOG.info("{} scheduled: {} times", name, firings);
    }

    /** Until no trigger is left, or two seconds after the last one was due. */
    private static void awaitQuiet(Scheduler scheduler, long end) throws Exception {
        while (System.currentTimeMillis() < end + 2000 && count("select count(*) from qrtz_triggers") > 0) {
            Thread.sleep(100);
        }
        while (!scheduler.getCurrentlyExecutingJobs().isEmpty()) {
            Thread.sleep(50);
        }
    }

    private static void report() throws SQLException {
        try (Connection connection = DriverManager.getConnection(URL, "sa", ""); Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery("select trigger_name, trigger_state, (select count(*) from qrtz_fired_triggers f"
                    + " where f.trigger_name = t.trigger_name) from qrtz_triggers t order by 1")) {
            while (found.next()) {
                LOG.warn("{} is late: trigger {}, {} fired triggers", found.getString(1), found.getString(2), found.getInt(3));
            }
        }
    }

    private static int count(String query) throws SQLException {
        try (Connection connection = DriverManager.getConnection(URL, "sa", ""); Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(query)) {
            found.next();
            return found.getInt(1);
        }
    }
}
