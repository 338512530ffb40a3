package cutset.jvm.agent;

import cutset.jvm.agent.Plan.ArmedFault;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What woven code calls. A visit that is neither recorded nor may fail costs a count.
 *
 * <p>No lambdas here, nor in what records a visit: making one loads classes, maybe while the program loads one.
 */
public final class Hook {
    /** After so many visits of a site, or of all, they are only counted: to find out a context takes microseconds. */
    private static final int VISITS_OF_SITE = 10_000, VISITS = 400_000;
    /** Later ones say little that is new, and should leave room for others. */
    private static final int VISITS_OF_CONTEXT = 1_000;

    static Plan plan; // before this class is used for the first time

    private static final class State { // of its own class, so that its fields are constants to the compiler
        static final boolean RECORDS = plan.visits;
        static final int RECORDED = RECORDS ? VISITS_OF_SITE : 0;
        static final AtomicInteger LEFT = new AtomicInteger(VISITS);
        static final AtomicIntegerArray COUNTS = new AtomicIntegerArray(plan.sites);
        static final ArmedFault[][] ARMED = new ArmedFault[plan.sites][];
        static final AtomicReferenceArray<ConcurrentHashMap<Contexts.Context, AtomicInteger>> NTH =
                new AtomicReferenceArray<>(plan.sites);

        static final boolean[][] RAN = new boolean[plan.analysed.size()][]; // by file and first line

        static {
            for (int site : plan.faults.keySet()) if (site < plan.sites) ARMED[site] = plan.faults.get(site);
        }
    }

    private Hook() {}

    static void start() throws Exception {
        Record.start(plan);
        LogPosition.start(plan);
        Faults.start(plan);
        State.COUNTS.length(); // now, and not within the first visit
        Contexts.here();
    }

    /** Right before what may fail. */
    public static void visit(int site) {
        int occurrence = State.COUNTS.incrementAndGet(site);
        if (occurrence <= State.RECORDED || State.ARMED[site] != null) visited(site, occurrence);
        else Record.count(site, occurrence);
    }

    /** Likewise, where a value may be given back in place of the call: which one, or 0 for none. */
    public static int visitReturning(int site) {
        return visited(site, State.COUNTS.incrementAndGet(site));
    }

    /** At the beginning of a method of an analysed file. */
    public static void ran(int path, int line) {
        boolean[] lines = State.RAN[path];
        if (!lines[line]) {
            lines[line] = true;
            Record.function(path, line);
        }
    }

    /** Before a class is loaded whose methods tell that they ran. */
    static synchronized void expect(int path, int lastLine) {
        boolean[] lines = State.RAN[path];
        if (lines == null) State.RAN[path] = new boolean[lastLine + 1];
        else if (lines.length <= lastLine) State.RAN[path] = Arrays.copyOf(lines, lastLine + 1);
    }

    /** A record goes to the appenders of a logger. */
    public static void logged() {
        LogPosition.logged();
    }

    private static int visited(int site, int occurrence) {
        ArmedFault[] faults = State.ARMED[site];
        boolean recorded = occurrence <= State.RECORDED && State.LEFT.get() > 0 && State.LEFT.getAndDecrement() > 0;
        Contexts.Context context = null;
        int nth = 0;
        try {
            if (recorded || faults != null && asksForContexts(faults)) {
                context = Contexts.here();
                nth = next(site, context);
            }
            if (recorded && nth <= VISITS_OF_CONTEXT) Record.visit(site, occurrence, context, nth);
            else Record.count(site, occurrence);
        } catch (RuntimeException error) { // whatever it is, the workload goes on
            Record.problem("a visit is not recorded: " + error);
        }
        return faults == null ? 0 : Faults.at(site, occurrence, context, nth, faults);
    }

    /** What leaves a file that is there has fired, here or in another JVM. */
    static void spend(String leaves) {
        for (ArmedFault[] of : State.ARMED)
            if (of != null) for (ArmedFault each : of) if (each.leaves.equals(leaves)) each.spent = true;
    }

    private static boolean asksForContexts(ArmedFault[] faults) {
        for (ArmedFault each : faults) if (!each.spent && !each.within.isEmpty()) return true;
        return false;
    }

    private static int next(int site, Contexts.Context context) {
        ConcurrentHashMap<Contexts.Context, AtomicInteger> counters = State.NTH.get(site);
        if (counters == null) {
            State.NTH.compareAndSet(site, null, new ConcurrentHashMap<Contexts.Context, AtomicInteger>());
            counters = State.NTH.get(site);
        }
        AtomicInteger counter = counters.get(context);
        if (counter == null) {
            counters.putIfAbsent(context, new AtomicInteger());
            counter = counters.get(context);
        }
        return counter.incrementAndGet();
    }
}
