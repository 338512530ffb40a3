package extracted;

import java.util.logging.Level;
import org.apache.commons.logging.Log;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Function0;

/** Log statements. */
class Talk {
    private static final Logger LOG = LoggerFactory.getLogger(Talk.class);
    private static final Logger NAMED = LoggerFactory.getLogger("audit");
    private static final org.apache.log4j.Logger OLD = org.apache.log4j.Logger.getLogger(Talk.class);
    private static final java.util.logging.Logger JUL = java.util.logging.Logger.getLogger(Talk.class.getName());
    private static final System.Logger SYSTEM = System.getLogger("system");
    private static final String PREFIX = String.join("-", "a", "b");
    private static final String FINAL = "final " + String.format("part of %s", PREFIX) + " here";
    private final Log log;
    private final Own own = new Own();

    Talk(Log log) {
        this.log = log;
    }

    void slf4j(int value, Exception thrown) {
        LOG.info("plain");
        LOG.info("one {} filled in", value);
        LOG.info("kept {} and \\{}", value);
        LOG.warn("many {} {} {}", 1, 2, thrown);
        LOG.error("with cause", thrown);
        NAMED.info("other name");
        LOG.atInfo().setCause(thrown).addArgument(value).log("fluent {}");
    }

    void concatenated(int value, String text) {
        LOG.info("sum " + value + " of " + text);
        LOG.info(String.format("formatted %5.1f%% of %s%n", 1.5, text));
        LOG.info(FINAL);
        String message = "by variable " + value;
        LOG.info(message);
        StringBuilder builder = new StringBuilder("built ");
        builder.append(value);
        if (value > 3) builder.append(" perhaps");
        builder.append(" at last");
        LOG.info(builder.toString());
    }

    void chosen(boolean which) {
        LOG.info("became " + (which ? "leader" : "follower") + " now");
        String message;
        if (which) message = "Started";
        else message = "Ended, alas";
        LOG.info(message);
    }

    void others(int value, Throwable thrown) {
        OLD.warn("old " + value);
        OLD.error("old failure", thrown);
        OLD.log(org.apache.log4j.Priority.FATAL, "old level");
        log.info("commons {}");
        log.fatal("commons failure", thrown);
        JUL.severe("jul");
        JUL.log(Level.WARNING, "jul {0} and {1}", new Object[] {value, value});
        JUL.log(Level.FINE, thrown, () -> "jul lazily " + value);
        JUL.logp(Level.INFO, "Talk", "others", "jul from {0}", value);
        SYSTEM.log(System.Logger.Level.ERROR, "system {0}", value);
        System.out.println("printed " + value);
        System.err.printf("printed as %d%n", value);
        thrown.printStackTrace();
    }

    void wrapped(int value, Exception thrown) {
        own.say("said by wrapper " + value);
        own.sayf("said as %s", value);
        own.complain("complained", thrown);
    }

    void lazily(Own own, int value) {
        own.info(() -> "lazily " + value);
    }

    void inNested() {
        new Runnable() {
            @Override
            public void run() {
                LOG.info("nested");
            }
        }.run();
    }

    /** Wrappers of its own. */
    static class Own {
        void say(String text) {
            LOG.info("> " + text);
        }

        void sayf(String text, Object... values) {
            LOG.debug(String.format(text, values));
        }

        void complain(String text, Throwable thrown) {
            LOG.error(text, thrown);
        }

        void info(Function0<String> text) {
            LOG.info(prefixed(text.apply()));
        }

        String prefixed(String text) {
            return PREFIX == null ? text : PREFIX + text;
        }
    }

    static Log container() {
        return container.logging.LogFactory.getLog(Talk.class);
    }
}
