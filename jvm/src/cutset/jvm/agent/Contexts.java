package cutset.jvm.agent;

import cutset.jvm.Names;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Calling contexts: which functions of the analysed files are on the stack, nearest first, and whose thread it is, as
 * in {@code FileTxnLog.commit < SyncRequestProcessor.run < @SyncThread:3}.
 *
 * <p>The stack is walked at each visit that is recorded, and most of what that costs is here. So contexts are nodes of
 * a tree, found word by word; their text is put together once.
 */
final class Contexts {
    private static final int FUNCTIONS = 16; // more would tell no more, but take longer

    /** By class, of analysed files: by method, its word; "" if it has none. */
    private static final ConcurrentHashMap<String, ConcurrentHashMap<String, String>> ANALYSED =
            new ConcurrentHashMap<>();

    private static final Context ROOT = new Context(null, "");

    private Contexts() {}

    static void add(String type) {
        ANALYSED.putIfAbsent(type, new ConcurrentHashMap<String, String>());
    }

    /** A stack trace is twice as fast as a `StackWalker` that is asked for names of methods, and as old as Java. */
    static Context here() {
        Context context = ROOT;
        String last = "";
        int functions = 0;
        for (StackTraceElement frame : new Throwable().getStackTrace()) {
            ConcurrentHashMap<String, String> words = ANALYSED.get(frame.getClassName());
            if (words == null) continue;
            String word = word(words, frame);
            if (word.isEmpty() || word == last) continue; // one that calls itself is there once
            context = context.next(word);
            last = word;
            if (++functions == FUNCTIONS) break;
        }
        return context.next(Threads.current().family);
    }

    private static String word(ConcurrentHashMap<String, String> words, StackTraceElement frame) {
        String method = frame.getMethodName();
        String word = words.get(method);
        if (word != null) return word;
        word = method.startsWith(ReturnBridge.PREFIX) ? "" : Names.inContext(frame.getClassName(), method);
        String known = words.putIfAbsent(method, word);
        return known == null ? word : known;
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
}
