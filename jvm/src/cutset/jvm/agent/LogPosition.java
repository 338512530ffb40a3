package cutset.jvm.agent;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.HashMap;
import java.util.Map;

/** How far the log of a run has come: records that its JVMs logged, bytes of its file. */
final class LogPosition {
    /** Methods that each record passes once on its way to the appenders: by class, their names and descriptors. */
    private static final Map<String, String> SINKS = new HashMap<>();

    static {
        SINKS.put("org/apache/log4j/Category", "callAppenders(Lorg/apache/log4j/spi/LoggingEvent;)V");
        SINKS.put("ch/qos/logback/classic/Logger", "callAppenders(Lch/qos/logback/classic/spi/ILoggingEvent;)V");
        String log4j = "Lorg/apache/logging/log4j/";
        String level = log4j + "Level;", marker = log4j + "Marker;", message = log4j + "message/Message;";
        SINKS.put(
                "org/apache/logging/log4j/core/Logger",
                "logMessage(Ljava/lang/String;" + level + marker + message + "Ljava/lang/Throwable;)V "
                        + "log(" + level + marker + "Ljava/lang/String;Ljava/lang/StackTraceElement;" + message
                        + "Ljava/lang/Throwable;)V");
        SINKS.put("org/slf4j/impl/SimpleLogger", "write(Ljava/lang/StringBuilder;Ljava/lang/Throwable;)V");
        SINKS.put("org/slf4j/simple/SimpleLogger", "write(Ljava/lang/StringBuilder;Ljava/lang/Throwable;)V");
        SINKS.put("java/util/logging/Logger", "log(Ljava/util/logging/LogRecord;)V");
    }

    private static ByteBuffer count = ByteBuffer.allocate(4);
    private static RandomAccessFile log; // no channel: that would be closed when its thread is interrupted

    private LogPosition() {}

    static void start(Plan plan) {
        try (RandomAccessFile file = new RandomAccessFile(new File(plan.out, "logged"), "rw")) {
            // JVMs share the log, so its records are their common time. If one gets lost between two, that is no harm.
            count = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 4);
        } catch (IOException error) {
            Record.problem("a JVM counts log records for itself: " + error);
        }
        count.order(ByteOrder.LITTLE_ENDIAN);
        try {
            if (plan.log != null) log = new RandomAccessFile(plan.log, "r");
        } catch (IOException gone) {
            log = null;
        }
    }

    static boolean isOfLogger(String type) {
        return SINKS.containsKey(type);
    }

    static boolean isSink(String type, String method, String descriptor) {
        return (" " + SINKS.get(type) + " ").contains(" " + method + descriptor + " ");
    }

    static void logged() {
        synchronized (SINKS) {
            count.putInt(0, count.getInt(0) + 1);
        }
    }

    static int records() {
        return count.getInt(0);
    }

    static int bytes() {
        try {
            return log == null ? 0 : (int) log.length();
        } catch (IOException gone) {
            return 0;
        }
    }
}
