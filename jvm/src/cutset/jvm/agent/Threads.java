package cutset.jvm.agent;

import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Who is at work: threads by their names, and by families of threads that do the same.
 *
 * <p>A family is told by the thread's name without what is in parentheses, and without what is another in the next
 * run: numbers that say which thread of a pool it is, ports, times and other large numbers, identifiers, and
 * files of the run. Which of an executor's threads it is never counts, whatever they are called.
 * Numbers that a program gives to its parts stay: {@code SyncThread:3}, {@code QuorumPeer[myid=1]}. Of several JVMs
 * that run the same program, those of the second one are families of their own, and so on: which server it was matters.
 */
final class Threads {
    private static final int REMEMBERED = 50_000; // lest a program that names each thread anew fills the memory

    private static final Pattern PARENTHESES = Pattern.compile("\\s*\\([^()]*\\)");
    private static final Pattern PATH = Pattern.compile(
            "(?:" + quoted("user.dir") + "|" + quoted("java.io.tmpdir") + ")(?:/[\\w.+@~=%-]+)+/?");
    private static final Pattern BY_OBJECT = Pattern.compile("(?<=[\\w$])@[0-9a-f]{1,8}\\b"); // Object.toString's
    private static final Pattern IDENTIFIER =
            Pattern.compile("\\b(?=[0-9a-fA-F-]*\\d)(?=[0-9a-fA-F-]*[a-fA-F])[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*\\b");
    private static final Pattern OF_POOL =
            Pattern.compile("(?i)((?:thread|worker|handler|exec|executor|scheduler|pool|timer|group)[-_# ]?)\\d+");
    private static final Pattern OF_LOOPS = Pattern.compile("(?i)(group-)\\*-\\d+"); // Netty's event loops
    private static final Pattern OF_JETTY = Pattern.compile("\\bqtp\\d+-\\d+");
    private static final Pattern LAST = Pattern.compile("([-_# ])\\d+$");
    private static final String EXECUTOR = "java.util.concurrent.ThreadPoolExecutor";
    /** Where the system has its ephemeral ports, there begin the numbers that nobody gives by hand. Their sign is chance. */
    private static final Pattern LARGE = Pattern.compile("(?:(?<![A-Za-z0-9*)\\]])-)?(?<!\\d)"
            + "(?:\\d{6,}|[4-9]\\d{4}|3[3-9]\\d{3}|32[89]\\d\\d|327[7-9]\\d|3276[89])(?!\\d)");

    private static final ConcurrentHashMap<String, Named> KNOWN = new ConcurrentHashMap<>();

    private Threads() {}

    private static String quoted(String property) {
        return Pattern.quote(System.getProperty(property, "/").replaceAll("/+$", ""));
    }

    static final class Named {
        final String name;
        final String family; // with its `@`, as in contexts
        private int number;

        Named(String name, boolean isOfExecutor) {
            this.name = name;
            String family = familyOf(name);
            if (isOfExecutor) family = LAST.matcher(family).replaceAll("$1*");
            this.family = "@" + family + Record.amongEqual;
        }

        /** In the record. */
        int number() {
            if (number == 0) number = Record.name(name);
            return number;
        }
    }

    static Named current() {
        String name = Thread.currentThread().getName();
        Named known = KNOWN.get(name);
        if (known != null) return known;
        Named made = new Named(name, isOfExecutor());
        if (KNOWN.size() > REMEMBERED) return made;
        known = KNOWN.putIfAbsent(name, made);
        return known == null ? made : known;
    }

    private static boolean isOfExecutor() {
        for (StackTraceElement frame : new Throwable().getStackTrace())
            if (frame.getClassName().equals(EXECUTOR) && frame.getMethodName().equals("runWorker")) return true;
        return false;
    }

    static String familyOf(String name) {
        if (name.isEmpty()) return "virtual"; // threads that nobody named: virtual ones
        String family = name.replace('\n', ' ');
        for (String before = ""; !before.equals(family); ) { // parentheses within parentheses
            before = family;
            family = PARENTHESES.matcher(family).replaceAll("");
        }
        family = PATH.matcher(family).replaceAll("*");
        family = BY_OBJECT.matcher(family).replaceAll("@*");
        family = IDENTIFIER.matcher(family).replaceAll("*");
        family = OF_POOL.matcher(family).replaceAll("$1*");
        family = OF_LOOPS.matcher(family).replaceAll("$1*-*");
        family = OF_JETTY.matcher(family).replaceAll("qtp*-*");
        return LARGE.matcher(family).replaceAll("*").replace(" < ", " ").trim();
    }
}
