package cutset.jvm.agent;

import cutset.jvm.Names;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Calling contexts: which functions of the analysed files are on the stack, nearest first, and whose thread it is, as
 * in {@code FileTxnLog.commit < SyncRequestProcessor.run < @SyncThread:3}.
 *
 * <p>The stack is walked at each visit that is recorded, and most of what that costs is here. So contexts are nodes of
 * a tree, found word by word; their text is put together once.
 */
final class Contexts {
    private static final int FUNCTIONS = 16; // more would tell no more, but take longer
    private static final int FRAMES = 200; // that are looked at, of others too

    /** By class, of analysed files: by method, its word; "" if it has none. */
    private static final ConcurrentHashMap<String, ConcurrentHashMap<String, String>> ANALYSED =
            new ConcurrentHashMap<>();

    private static final Context ROOT = new Context(null, "");
    private static final StackReader STACK = Walker.isThere() ? new Walker() : new Traces();

    private Contexts() {}

    static void add(String type) {
        ANALYSED.putIfAbsent(type, new ConcurrentHashMap<String, String>());
    }

    static Context here() {
        Path path = new Path();
        STACK.read(path);
        return path.context.next(Threads.current().family);
    }

    /** Of the class that the innermost analysed function is of; or of nobody, that is, of the JDK. */
    static ClassLoader loader() {
        Caller caller = new Caller();
        STACK.read(caller);
        return caller.loader == null ? Thread.currentThread().getContextClassLoader() : caller.loader;
    }

    static final class Context {
        private final Context before;
        private final String word;
        private final ConcurrentHashMap<String, Context> next = new ConcurrentHashMap<>(2);
        private volatile String text;
        private volatile int number;

        private Context(Context before, String word) {
            this.before = before;
            this.word = word;
        }

        private Context next(String word) {
            Context found = next.get(word);
            if (found != null) return found;
            Context made = new Context(this, word);
            found = next.putIfAbsent(word, made);
            return found == null ? made : found;
        }

        /** In the record. */
        int number() {
            if (number == 0) number = Record.name(toString());
            return number;
        }

        @Override
        public String toString() {
            if (text == null) {
                ArrayDeque<String> words = new ArrayDeque<>();
                for (Context each = this; each.before != null; each = each.before) words.push(each.word);
                text = String.join(" < ", words);
            }
            return text;
        }
    }

    /** Frames, innermost first, until `accept` says that it is enough. */
    private interface StackReader {
        void read(Frames frames);
    }

    private abstract static class Frames {
        /** Whether it is enough. {@code type}: null where the runtime does not tell. */
        abstract boolean accept(String typeName, Class<?> type, String method);

        /** Whether the frame's method has to be known. */
        boolean asks(String typeName) {
            return ANALYSED.containsKey(typeName);
        }
    }

    private static final class Path extends Frames {
        Context context = ROOT;
        private int functions;
        private String last = "";

        @Override
        boolean accept(String typeName, Class<?> type, String method) {
            String word = word(typeName, method);
            if (word.isEmpty() || word == last) return false; // one that calls itself is there once
            last = word;
            context = context.next(word);
            return ++functions == FUNCTIONS;
        }

        private static String word(String typeName, String method) {
            ConcurrentHashMap<String, String> words = ANALYSED.get(typeName);
            String word = words.get(method);
            if (word != null) return word;
            word = method.startsWith(ReturnBridge.PREFIX) ? "" : Names.inContext(typeName, method);
            String known = words.putIfAbsent(method, word);
            return known == null ? word : known;
        }
    }

    private static final class Caller extends Frames {
        ClassLoader loader;

        @Override
        boolean accept(String typeName, Class<?> type, String method) {
            loader = type == null ? null : type.getClassLoader();
            return true;
        }
    }

    /** Of Java 8. */
    private static final class Traces implements StackReader {
        @Override
        public void read(Frames frames) {
            for (StackTraceElement each : new Throwable().getStackTrace())
                if (frames.asks(each.getClassName())
                        && frames.accept(each.getClassName(), null, each.getMethodName())) return;
        }
    }

    /** `StackWalker`, of Java 9 and later, five times as fast; by reflection, since we are compiled for Java 8. */
    private static final class Walker implements StackReader {
        private static final MethodHandle WALK, TYPE, METHOD;

        static {
            MethodHandle walk = null, type = null, method = null;
            try {
                Class<?> walker = Class.forName("java.lang.StackWalker");
                Class<?> frame = Class.forName("java.lang.StackWalker$StackFrame");
                Class<?> option = Class.forName("java.lang.StackWalker$Option");
                MethodHandles.Lookup lookup = MethodHandles.publicLookup();
                Object retain = option.getField("RETAIN_CLASS_REFERENCE").get(null);
                Object made = walker.getMethod("getInstance", option).invoke(null, retain);
                walk = lookup.findVirtual(walker, "walk", MethodType.methodType(Object.class, Function.class))
                        .bindTo(made);
                type = lookup.findVirtual(frame, "getDeclaringClass", MethodType.methodType(Class.class))
                        .asType(MethodType.methodType(Class.class, Object.class));
                method = lookup.findVirtual(frame, "getMethodName", MethodType.methodType(String.class))
                        .asType(MethodType.methodType(String.class, Object.class));
            } catch (ReflectiveOperationException old) {
                walk = null;
            }
            WALK = walk;
            TYPE = type;
            METHOD = method;
        }

        static boolean isThere() {
            return WALK != null;
        }

        @Override
        public void read(Frames frames) {
            try {
                Object unused = WALK.invokeExact((Function<?, ?>) new Reading(frames));
            } catch (Throwable error) {
                Record.problem("a calling context cannot be told: " + error);
            }
        }

        private static final class Reading implements Function<Stream<Object>, Object>, Predicate<Object> {
            private final Frames frames;
            private int seen;

            Reading(Frames frames) {
                this.frames = frames;
            }

            @Override
            public Object apply(Stream<Object> stack) {
                return stack.anyMatch(this);
            }

            @Override
            public boolean test(Object frame) {
                try {
                    Class<?> type = (Class<?>) TYPE.invokeExact(frame);
                    String name = type.getName();
                    return ++seen > FRAMES
                            || frames.asks(name) && frames.accept(name, type, (String) METHOD.invokeExact(frame));
                } catch (Throwable error) {
                    throw new IllegalStateException(error);
                }
            }
        }
    }
}
