package cutset.jvm;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** Calls that cannot fail in a way worth trying: of strings, numbers, collections, loggers, and what makes exceptions. */
public final class Harmless {
    private static final String[] PACKAGES = {
        "java/lang/invoke/", "java/lang/ref/", "java/lang/annotation/", "java/lang/runtime/", "java/math/", "java/time/",
        "java/util/function/", "java/util/stream/", "java/util/regex/", "java/util/concurrent/atomic/",
        "java/util/logging/", "org/slf4j/", "org/apache/log4j/", "org/apache/logging/", "org/apache/commons/logging/",
        "ch/qos/logback/", "com/typesafe/scalalogging/", "com/google/common/collect/", "com/google/protobuf/",
        "scala/", "kotlin/",
    };
    private static final String[] BUT_PACKAGES = {
        "com/google/protobuf/Coded", "com/google/protobuf/Parser", "com/google/protobuf/BlockingRpc", "scala/concurrent/",
        "scala/io/", "scala/sys/process/", "kotlin/io/",
    };
    private static final Set<String> CLASSES = set(
            "java/lang/Object", "java/lang/Class", "java/lang/String", "java/lang/CharSequence", "java/lang/Comparable",
            "java/lang/Iterable", "java/lang/AbstractStringBuilder", "java/lang/StringBuilder", "java/lang/StringBuffer",
            "java/lang/Enum", "java/lang/Record", "java/lang/Math", "java/lang/StrictMath", "java/lang/Number",
            "java/lang/Boolean", "java/lang/Byte", "java/lang/Character", "java/lang/Short", "java/lang/Integer",
            "java/lang/Long", "java/lang/Float", "java/lang/Double", "java/lang/Void", "java/lang/System",
            "java/lang/System$Logger", "java/lang/StackTraceElement", "java/lang/ThreadLocal", "java/lang/Package",
            "java/io/PrintStream", "java/io/PrintWriter", "java/io/StringWriter", "java/io/ByteArrayInputStream",
            "java/io/ByteArrayOutputStream", "java/util/concurrent/ConcurrentHashMap",
            "java/util/concurrent/ConcurrentMap", "java/util/concurrent/ConcurrentLinkedQueue",
            "java/util/concurrent/ConcurrentLinkedDeque", "java/util/concurrent/ConcurrentSkipListMap",
            "java/util/concurrent/ConcurrentSkipListSet", "java/util/concurrent/ConcurrentNavigableMap",
            "java/util/concurrent/CopyOnWriteArrayList", "java/util/concurrent/CopyOnWriteArraySet",
            "java/util/concurrent/ThreadLocalRandom", "java/util/concurrent/TimeUnit", "kafka/utils/Logging");
    private static final Set<String> BUT_CALLS = set(
            "java/lang/Object.wait", "java/lang/Class.forName", "java/lang/Class.newInstance",
            "java/lang/Class.getResource", "java/lang/Class.getResourceAsStream", "java/lang/System.load",
            "java/lang/System.loadLibrary", "java/util/concurrent/TimeUnit.sleep");
    private static final Set<String> NO_COLLECTIONS = set( // of java.util
            "java/util/Scanner", "java/util/Properties", "java/util/Timer", "java/util/TimerTask",
            "java/util/ServiceLoader", "java/util/ResourceBundle");

    private Harmless() {}

    public static boolean is(String owner, String name) {
        if (owner.startsWith("[")) return true; // `clone` of an array
        if (BUT_CALLS.contains(owner + "." + name)) return false;
        if (CLASSES.contains(owner) || soundsThrown(owner) || soundsLogging(owner)) return true;
        if (owner.startsWith("java/util/") && owner.indexOf('/', 10) < 0) return !NO_COLLECTIONS.contains(owner);
        return startsWithAny(owner, PACKAGES) && !startsWithAny(owner, BUT_PACKAGES);
    }

    private static boolean soundsThrown(String owner) {
        return owner.endsWith("Exception") || owner.endsWith("Error") || owner.endsWith("Throwable");
    }

    /** Servers and frameworks have log APIs of their own, which look alike. */
    private static boolean soundsLogging(String owner) {
        return owner.contains("/logging/") || owner.endsWith("LoggerFactory") || owner.endsWith("LogFactory");
    }

    private static boolean startsWithAny(String text, String[] beginnings) {
        for (String each : beginnings) if (text.startsWith(each)) return true;
        return false;
    }

    private static Set<String> set(String... names) {
        return new HashSet<>(Arrays.asList(names));
    }
}
