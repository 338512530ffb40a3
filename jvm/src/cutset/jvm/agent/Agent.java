package cutset.jvm.agent;

import java.lang.instrument.Instrumentation;

/**
 * Fault sites at run time: counts the visits to chosen places of a program and makes at most one of them fail, or one
 * on top of others that are known to be needed (ANDURIL, section 4.2). Java 8 and later; no dependencies.
 *
 * <p>It is told what to do by a plan ({@link Plan}), as in {@code -javaagent:cutset-jvm.jar=plan.json}. {@link Weaver}
 * puts calls of {@link Hook} into the classes that the plan names. {@link Contexts} and {@link LogPosition} tell the
 * circumstances of a visit, {@link Record} keeps it; {@link Faults} decides whether it fails, and {@link Effect} how.
 *
 * <p>The whole jar is on the boot class path, so that every class loader finds the hook.
 */
public final class Agent {
    private Agent() {}

    public static void premain(String planPath, Instrumentation instrumentation) {
        try {
            Hook.plan = Plan.read(planPath);
            Hook.start();
            instrumentation.addTransformer(new Weaver(Hook.plan));
        } catch (Throwable error) { // whatever it is, the workload goes on
            System.err.println("cutset: the plan `" + planPath + "` cannot be followed: " + error);
            if (Hook.plan != null) Record.problem("a JVM is not instrumented: " + error);
        }
    }
}
