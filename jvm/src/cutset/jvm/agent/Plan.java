package cutset.jvm.agent;

import cutset.jvm.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What there is to do in a run, a JSON file:
 *
 * <pre>
 * sites      [[number, class, function, expression, ordinal, raise 0/1], …], as {@code SiteFinder} has them
 * window     [[site, occurrence (0: any), effect, context], …]: the first that comes up fires, in whichever JVM; with
 *            a context, occurrences within it count; "": all
 * ground     rows as in window: each of them fires once, whatever becomes of the window and of the others
 * visits     whether to record visits; if not, only sites with a fault are woven
 * functions  whether to record which functions of the analysed files run
 * analysed   [path, …], as in org/a/Foo.java: the files whose functions make contexts
 * log        the file that the run's log is written to, or null
 * cache      a folder that rounds share, for classes into which calls have been put, or null
 * out        the folder for what {@link Record} and {@link Faults} leave
 * </pre>
 */
final class Plan {
    final String out;
    final String log;
    final String cache;
    final boolean visits;
    final boolean functions;
    final int sites; // one more than the largest number
    final Map<String, List<PlannedSite>> byClass = new HashMap<>(); // by name as in org/a/Foo
    final Map<Integer, ArmedFault[]> faults = new HashMap<>(); // by site, in the order in which they are considered
    final Map<String, Integer> analysed = new HashMap<>(); // by path: its place in the plan
    final int analysedSum; // the same for the same list
    final Set<String> packages = new HashSet<>(); // of analysed files

    static final class PlannedSite {
        final int number;
        final String function, expression, type;
        final int ordinal;
        final boolean raise;

        PlannedSite(List<?> row) {
            number = number(row.get(0));
            type = (String) row.get(1);
            function = (String) row.get(2);
            expression = (String) row.get(3);
            ordinal = number(row.get(4));
            raise = number(row.get(5)) != 0;
        }

        /** What tells it from others of its class. */
        String key() {
            return key(function, expression, ordinal, raise);
        }

        static String key(String function, String expression, int ordinal, boolean raise) {
            return function + "::" + expression + "#" + ordinal + (raise ? "!" : "");
        }

        @Override
        public String toString() {
            return type + "::" + function + "::" + expression + (ordinal > 0 ? "#" + ordinal : "");
        }
    }

    static final class ArmedFault {
        final int site, occurrence;
        final Effect effect;
        final String within;
        final String leaves; // the file that it leaves when it fires: who creates it may fire
        volatile boolean spent;

        ArmedFault(List<?> row, String leaves) {
            site = number(row.get(0));
            occurrence = number(row.get(1));
            effect = Effect.parse((String) row.get(2));
            within = row.size() > 3 ? (String) row.get(3) : "";
            this.leaves = leaves;
        }

        boolean isOf(int occurrence, String context, int nth) {
            int counted = within.isEmpty() ? occurrence : nth;
            return (this.occurrence == 0 || this.occurrence == counted) && (within.isEmpty() || within.equals(context));
        }
    }

    static Plan read(String path) throws IOException {
        String text = new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8);
        return new Plan((Map<?, ?>) Json.read(text));
    }

    private Plan(Map<?, ?> plan) {
        out = (String) plan.get("out");
        log = (String) plan.get("log");
        cache = (String) plan.get("cache");
        visits = Boolean.TRUE.equals(plan.get("visits"));
        functions = Boolean.TRUE.equals(plan.get("functions"));
        int ground = 0;
        for (List<?> row : rows(plan, "ground")) arm(row, "ground." + ground++ + ".json");
        for (List<?> row : rows(plan, "window")) arm(row, "fired.json");
        int last = -1;
        for (List<?> row : rows(plan, "sites")) {
            PlannedSite site = new PlannedSite(row);
            last = Math.max(last, site.number);
            if (!visits && !faults.containsKey(site.number)) continue;
            byClass.computeIfAbsent(site.type.replace('.', '/'), type -> new ArrayList<>()).add(site);
        }
        sites = last + 1;
        analysedSum = plan.get("analysed").hashCode();
        for (Object each : (List<?>) plan.get("analysed")) {
            String path = (String) each;
            analysed.put(path, analysed.size());
            packages.add(path.substring(0, path.lastIndexOf('/') + 1));
        }
    }

    /** What is for its occurrence goes before what is for any, what is for its context before what is for all. */
    private void arm(List<?> row, String leaves) {
        ArmedFault fault = new ArmedFault(row, leaves);
        List<ArmedFault> here = new ArrayList<>();
        Collections.addAll(here, faults.getOrDefault(fault.site, new ArmedFault[0]));
        here.add(fault);
        here.sort(Comparator.<ArmedFault, Boolean>comparing(each -> each.leaves.equals("fired.json"))
                .thenComparing(each -> each.within.isEmpty())
                .thenComparing(each -> each.occurrence == 0));
        faults.put(fault.site, here.toArray(new ArmedFault[0]));
    }

    private static List<List<?>> rows(Map<?, ?> plan, String key) {
        List<List<?>> rows = new ArrayList<>();
        for (Object each : (List<?>) plan.get(key)) rows.add((List<?>) each);
        return rows;
    }

    private static int number(Object value) {
        return ((Number) value).intValue();
    }
}
