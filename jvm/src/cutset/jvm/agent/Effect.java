package cutset.jvm.agent;

import cutset.jvm.Json;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.objectweb.asm.Type;

/**
 * What a fault does, as in {@code java.io.IOException("No space left on device")}, {@code hang()}, {@code delay(2.5)},
 * {@code crash()}, {@code return(null)}.
 */
final class Effect {
    private static final int KILLED = 137; // the exit status after SIGKILL

    private static final Object NOTHING = new Object();

    final String text;
    final String name; // hang, delay, crash, return, or the binary name of an exception
    private final String argument;
    int returns; // of return(…): which value of its site, from 1; 0: it cannot be given back there

    private Effect(String text, String name, String argument) {
        this.text = text;
        this.name = name;
        this.argument = argument;
    }

    static Effect parse(String text) {
        int open = text.indexOf('(');
        if (open < 1 || !text.endsWith(")")) return new Effect(text, text, ""); // no exception either, as will be said
        return new Effect(text, text.substring(0, open), text.substring(open + 1, text.length() - 1).trim());
    }

    boolean isReturn() {
        return name.equals("return");
    }

    /** The value of return(…): a Boolean, Long, Double, text or null; or a mark that nothing can be given back. */
    Object value() {
        try {
            return Json.read(argument);
        } catch (IllegalArgumentException none) {
            return NOTHING;
        }
    }

    private boolean isException() {
        return !Arrays.asList("hang", "delay", "crash", "return").contains(name);
    }

    /** All that can fail, before it is said to have fired: the exception, if it is one. */
    Throwable prepare(ClassLoader loader) throws ReflectiveOperationException {
        if (isReturn() && returns == 0) throw new ReflectiveOperationException("the call cannot give that back");
        if (name.equals("delay")) Double.parseDouble(argument);
        return isException() ? exception(loader) : null;
    }

    /** What the hook gives back; if it does. {@code interruptible}: an interrupt ends it as it would end the call. */
    int act(Throwable prepared, boolean interruptible) {
        switch (name) {
            case "hang":
                pause(Long.MAX_VALUE, interruptible);
                return 0;
            case "delay":
                pause((long) (Double.parseDouble(argument) * TimeUnit.SECONDS.toNanos(1)), interruptible);
                return 0;
            case "crash":
                Runtime.getRuntime().halt(KILLED);
                return 0;
            case "return":
                return returns;
            default:
                throw Effect.<RuntimeException>unchecked(prepared);
        }
    }

    private static void pause(long nanos, boolean interruptible) {
        long begin = System.nanoTime();
        boolean interrupted = false;
        for (long left = nanos; left > 0; left = nanos - (System.nanoTime() - begin)) {
            LockSupport.parkNanos(left);
            if (!Thread.interrupted()) continue;
            if (interruptible) throw Effect.<RuntimeException>unchecked(asOfCall(new InterruptedException()));
            interrupted = true;
        }
        if (interrupted) Thread.currentThread().interrupt();
    }

    private Throwable exception(ClassLoader loader) throws ReflectiveOperationException {
        Class<?> type = Class.forName(name, true, loader);
        if (!Throwable.class.isAssignableFrom(type)) throw new ReflectiveOperationException("it is no exception");
        String message = argument.isEmpty() ? null : (String) Json.read(argument);
        List<Constructor<?>> constructors = new ArrayList<>(Arrays.asList(type.getDeclaredConstructors()));
        constructors.sort(Comparator.comparing((Constructor<?> each) -> !suits(each, message))
                .thenComparing(Constructor::getParameterCount)
                .thenComparing(Constructor::toString));
        Throwable why = null;
        for (Constructor<?> each : constructors) {
            try {
                each.setAccessible(true);
                return asOfCall((Throwable) each.newInstance(arguments(each, message)));
            } catch (ReflectiveOperationException | RuntimeException failed) {
                why = failed.getCause() == null ? failed : failed.getCause();
            }
        }
        throw new ReflectiveOperationException("no constructor of it works", why);
    }

    private static boolean suits(Constructor<?> constructor, String message) {
        List<Class<?>> types = Arrays.asList(constructor.getParameterTypes());
        return message == null ? types.isEmpty() : types.contains(String.class) || types.contains(Object.class);
    }

    private static Object[] arguments(Constructor<?> constructor, String message) {
        Object[] given = new Object[constructor.getParameterCount()];
        String left = message;
        for (int k = 0; k < given.length; k++) {
            Class<?> type = constructor.getParameterTypes()[k];
            if (type.isPrimitive()) given[k] = Array.get(Array.newInstance(type, 1), 0); // zero
            else if (type == String.class || type == Object.class) {
                given[k] = left;
                left = null;
            }
        }
        return given;
    }

    /** Without our own frames, as if the call had thrown it. */
    private static Throwable asOfCall(Throwable thrown) {
        StackTraceElement[] frames = thrown.getStackTrace();
        int begin = 0;
        while (begin < frames.length && !Faults.isOurs(frames[begin])) begin++; // constructors
        while (begin < frames.length && Faults.isOurs(frames[begin])) begin++;
        thrown.setStackTrace(Arrays.copyOfRange(frames, begin, frames.length));
        return thrown;
    }

    /** Whether a call can end by an InterruptedException. */
    static boolean isInterruptible(String owner, String name, String descriptor, ClassLoader loader) {
        try {
            for (Class<?> type = Class.forName(owner.replace('/', '.'), false, loader); type != null; ) {
                for (Method each : type.isInterface() ? type.getMethods() : type.getDeclaredMethods())
                    if (each.getName().equals(name) && Type.getMethodDescriptor(each).equals(descriptor))
                        return declares(each.getExceptionTypes());
                type = type.getSuperclass();
            }
        } catch (ClassNotFoundException | LinkageError unknown) {
            return false;
        }
        return false;
    }

    private static boolean declares(Class<?>[] exceptions) {
        for (Class<?> each : exceptions) if (each.isAssignableFrom(InterruptedException.class)) return true;
        return false;
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
