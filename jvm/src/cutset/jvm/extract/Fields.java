package cutset.jvm.extract;

import cutset.jvm.Names;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;

/** Names of fields, and calls that change what a field holds without being a write of it. */
final class Fields {
    private static final Set<String> CHANGING = new HashSet<>(Arrays.asList(
            "add", "addAll", "addFirst", "addLast", "put", "putAll", "putIfAbsent", "remove", "removeAll", "removeIf",
            "removeFirst", "removeLast", "retainAll", "clear", "offer", "offerFirst", "offerLast", "poll", "pollFirst",
            "pollLast", "push", "pop", "take", "drainTo", "set", "lazySet", "getAndSet", "compareAndSet", "replace",
            "replaceAll", "compute", "computeIfAbsent", "computeIfPresent", "merge", "increment", "decrement",
            "incrementAndGet", "decrementAndGet", "getAndIncrement", "getAndDecrement", "addAndGet", "getAndAdd",
            "updateAndGet", "getAndUpdate", "accumulateAndGet", "append", "setLength", "flip", "countDown", "release",
            "acquire", "tryAcquire", "complete", "completeExceptionally", "cancel", "notify", "notifyAll", "signal",
            "signalAll", "interrupt", "shutdown", "shutdownNow"));

    private Fields() {}

    static String name(FieldInsnNode field) {
        return Names.dotted(field.owner) + "." + field.name;
    }

    static boolean changes(MethodInsnNode call) {
        return CHANGING.contains(call.name) && (call.owner.startsWith("java/") || call.owner.startsWith("scala/"));
    }
}
