package cutset.jvm.agent;

import cutset.jvm.FoundSite;
import cutset.jvm.Json;
import cutset.jvm.agent.Plan.ArmedFault;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which fault fires, and that it does once: whoever creates its file ({@code fired.json} for the window,
 * {@code ground.N.json} for the N-th fault of the ground) may fire. The file tells the circumstances, and is there,
 * with all of them, before anything happens: it is written as {@code fired.json.part}, and renamed. A process that is
 * killed before has not fired, and leaves nothing but that part, which keeps others from firing instead.
 */
final class Faults {
    private static File out;
    private static final Map<Integer, LoadedSite> LOADED = new ConcurrentHashMap<>(); // those with faults

    private static final Set<String> UNMADE = ConcurrentHashMap.newKeySet(); // what was said of effects

    private Faults() {}

    static void start(Plan plan) {
        out = new File(plan.out);
    }

    private static final class LoadedSite {
        final FoundSite site;
        final ClassLoader loader; // that finds what the code around it does

        LoadedSite(FoundSite site, ClassLoader loader) {
            this.site = site;
            this.loader = loader;
        }
    }

    static void found(int number, FoundSite site, ClassLoader loader) {
        LOADED.put(number, new LoadedSite(site, loader));
    }

    /** What the hook gives back: which value in place of the call; 0: none. */
    static int at(int site, int occurrence, Contexts.Context context, int nth, ArmedFault[] faults) {
        for (ArmedFault each : faults) {
            if (each.spent || !each.isOf(occurrence, context == null ? null : context.toString(), nth)) continue;
            LoadedSite loaded = LOADED.get(site);
            Throwable prepared;
            try {
                prepared = each.effect.prepare(loaded.loader);
            } catch (ReflectiveOperationException | RuntimeException | LinkageError error) {
                String problem = "the effect " + each.effect.text + " could not be made: " + error
                        + (error.getCause() == null ? "" : " (" + error.getCause() + ")");
                if (UNMADE.add(problem)) Record.problem(problem);
                each.spent = true;
                continue;
            }
            if (claim(each, occurrence, context, nth)) return each.effect.act(prepared, isInterruptible(loaded));
        }
        return 0;
    }

    private static boolean claim(ArmedFault fault, int occurrence, Contexts.Context context, int nth) {
        File file = new File(out, fault.leaves);
        File part = new File(out, fault.leaves + ".part");
        boolean ours;
        try {
            ours = part.createNewFile();
        } catch (IOException error) {
            Record.problem("a fault did not fire: " + error);
            return false;
        }
        Hook.spend(fault.leaves);
        if (!ours) return false;
        if (file.exists()) { // another has fired, and its part has gone by the renaming
            part.delete();
            return false;
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("site", fault.site);
        fields.put("occurrence", occurrence);
        fields.put("effect", fault.effect.text);
        fields.put("within", (context == null ? Contexts.here() : context).toString());
        fields.put("nth", nth);
        fields.put("process", Record.process);
        fields.put("thread", Thread.currentThread().getName());
        fields.put("stack", stack());
        fields.put("logged", LogPosition.records());
        fields.put("printed", LogPosition.bytes());
        StringBuilder text = new StringBuilder();
        Json.write(fields, text);
        try (FileOutputStream written = new FileOutputStream(part)) {
            written.write(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
            Record.problem("a fault did not fire, because it cannot be recorded: " + error);
            return false;
        }
        if (part.renameTo(file)) return true;
        Record.problem("a fault did not fire, because it cannot be recorded: " + part + " cannot be renamed");
        return false;
    }

    private static boolean isInterruptible(LoadedSite loaded) {
        FoundSite site = loaded.site;
        return !site.raise
                && Effect.isInterruptible(site.calleeOwner, site.calleeName, site.calleeDescriptor, loaded.loader);
    }

    /** As in {@code org/a/Foo.java:12 in Foo.run}, innermost frame last. */
    private static List<String> stack() {
        List<String> frames = new ArrayList<>();
        for (StackTraceElement each : new Throwable().getStackTrace()) {
            if (isOurs(each)) continue;
            String type = each.getClassName();
            int simple = type.lastIndexOf('.') + 1;
            String file = each.getFileName() == null ? type.substring(simple) : each.getFileName();
            String place = type.substring(0, simple).replace('.', '/') + file + ":" + Math.max(0, each.getLineNumber());
            frames.add(place + " in " + type.substring(simple) + "." + each.getMethodName());
        }
        Collections.reverse(frames);
        return frames;
    }

    static boolean isOurs(StackTraceElement frame) {
        return frame.getClassName().startsWith("cutset.jvm.agent.")
                || frame.getMethodName().startsWith(ReturnBridge.PREFIX);
    }
}
