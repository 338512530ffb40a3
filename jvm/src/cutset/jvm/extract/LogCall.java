package cutset.jvm.extract;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.analysis.SourceValue;

/**
 * A call that writes a log record: of slf4j, log4j, commons-logging, java.util.logging, System.Logger, of what is called
 * and used like them, of {@code kafka.utils.Logging}, and what prints to System.out or System.err.
 */
final class LogCall {
    private static final Set<String> LEVELS = set(
            "trace", "debug", "info", "warn", "error", "fatal", "severe", "warning", "config", "fine", "finer", "finest");
    private static final Set<String> BY_PARAMETER = set("log", "logp", "logrb", "printf");
    private static final Set<String> PRINTING = set("print", "println", "printf", "format");
    private static final String STRING = "java/lang/String";
    static final String UNKNOWN = "UNKNOWN";

    /** How what is filled in is marked in the text. */
    enum Style { AS_IS, BRACES, NUMBERED, PERCENT }

    String level = UNKNOWN; // as logs have it; "" for what is printed
    SourceValue message; // null: none
    Style style = Style.AS_IS;
    boolean hasThrowable;
    SourceValue logger; // null: not known
    boolean hasPrefix; // the logger may put something in front

    /** Null if it is none. */
    static LogCall of(int at, Code code) {
        if (!(code.flow.instructions[at] instanceof MethodInsnNode) || !code.isReached(at)) return null;
        MethodInsnNode call = (MethodInsnNode) code.flow.instructions[at];
        if (call.owner.equals("java/io/PrintStream")) return printed(call, at, code);
        if (call.name.equals("printStackTrace") && call.desc.equals("()V")) return stackTrace();
        if (isLazy(call)) return lazy(call, at, code);
        if (call.name.equals("log") && call.owner.endsWith("Builder")) return fluent(call, at, code);
        return isLogger(call.owner) ? logged(call, at, code) : null;
    }

    private static LogCall printed(MethodInsnNode call, int at, Code code) {
        AbstractInsnNode stream = Code.only(code.receiver(at));
        boolean isOutput = stream instanceof FieldInsnNode && ((FieldInsnNode) stream).owner.equals("java/lang/System");
        List<SourceValue> arguments = code.arguments(at);
        if (!isOutput || !PRINTING.contains(call.name) || arguments.isEmpty()) return null;
        LogCall found = new LogCall();
        found.level = "";
        boolean isFormat = !call.name.startsWith("print") || call.name.equals("printf");
        if (isFormat) found.style = Style.PERCENT;
        found.message = arguments.get(call.desc.startsWith("(Ljava/util/Locale;") ? 1 : 0);
        return found;
    }

    private static LogCall stackTrace() {
        LogCall found = new LogCall();
        found.level = "";
        found.hasThrowable = true;
        return found;
    }

    /** As of {@code kafka.utils.Logging}: functions make message and exception. */
    private static boolean isLazy(MethodInsnNode call) {
        return LEVELS.contains(call.name)
                && (call.desc.equals("(Lscala/Function0;)V") || call.desc.equals("(Lscala/Function0;Lscala/Function0;)V"));
    }

    private static LogCall lazy(MethodInsnNode call, int at, Code code) {
        LogCall found = new LogCall();
        List<SourceValue> arguments = code.arguments(at);
        found.level = call.name.toUpperCase(Locale.ROOT);
        found.message = arguments.get(0);
        found.hasThrowable = arguments.size() > 1;
        found.hasPrefix = true; // `logIdent`
        return found;
    }

    /** {@code logger.atInfo().setCause(e).log("…")}, of slf4j and log4j. */
    private static LogCall fluent(MethodInsnNode call, int at, Code code) {
        LogCall found = new LogCall();
        found.style = Style.BRACES;
        List<SourceValue> arguments = code.arguments(at);
        if (!arguments.isEmpty()) found.message = arguments.get(0);
        for (int each = at; ; ) {
            AbstractInsnNode before = Code.only(code.receiver(each));
            if (!(before instanceof MethodInsnNode)) return null; // a builder from elsewhere: of something else, perhaps
            MethodInsnNode step = (MethodInsnNode) before;
            each = code.index(before);
            if (step.name.equals("setCause") || step.name.equals("withThrowable")) found.hasThrowable = true;
            if (step.name.equals("setMessage") && found.message == null) found.message = code.arguments(each).get(0);
            if (!isLogger(step.owner) || !step.name.startsWith("at")) continue;
            found.logger = code.receiver(each);
            found.level = step.name.equals("atLevel")
                    ? constant(code.arguments(each).get(0))
                    : step.name.substring(2).toUpperCase(Locale.ROOT);
            return found;
        }
    }

    static boolean isLogger(String owner) {
        String simple = owner.substring(Math.max(owner.lastIndexOf('/'), owner.lastIndexOf('$')) + 1);
        return simple.endsWith("Logger") || simple.equals("Log") || owner.equals("org/apache/log4j/Category");
    }

    private static LogCall logged(MethodInsnNode call, int at, Code code) {
        boolean isFormat = call.name.endsWith("f") && LEVELS.contains(call.name.substring(0, call.name.length() - 1));
        String name = isFormat ? call.name.substring(0, call.name.length() - 1) : call.name;
        if (!LEVELS.contains(name) && !BY_PARAMETER.contains(name) || !call.desc.endsWith(")V")) return null;
        Type[] types = Type.getArgumentTypes(call.desc);
        List<SourceValue> arguments = code.arguments(at);
        LogCall found = new LogCall();
        if (LEVELS.contains(name)) found.level = name.toUpperCase(Locale.ROOT);
        int next = 0;
        while (next < types.length && isBeforeMessage(types, next)) {
            if (isLevel(types[next])) found.level = constant(arguments.get(next));
            next++;
        }
        if (name.equals("logp")) next += 2;
        if (name.equals("logrb")) next = lastText(types);
        if (next < types.length && isThrowable(types[next])) { // `log(level, exception, supplier)`
            found.hasThrowable = true;
            next++;
        }
        if (next >= types.length) return null;
        found.message = arguments.get(next);
        found.logger = code.receiver(at);
        for (int k = next + 1; k < types.length; k++) found.hasThrowable |= isThrowable(types[k]);
        boolean isFilledIn = types.length > next + 1;
        if (isFilledIn) {
            found.hasThrowable |= isThrown(arguments.get(types.length - 1), at, code);
            if (isFormat || name.equals("printf")) found.style = Style.PERCENT;
            else if (call.owner.startsWith("java/")) found.style = Style.NUMBERED;
            else if (!call.owner.startsWith("org/apache/log4j/")) found.style = Style.BRACES;
        }
        return found;
    }

    private static boolean isBeforeMessage(Type[] types, int at) {
        String name = types[at].getSort() == Type.OBJECT ? types[at].getInternalName() : "";
        boolean isCaller = name.equals(STRING) && at + 1 < types.length && isLevel(types[at + 1]); // log4j 1
        return isCaller || isLevel(types[at]) || name.endsWith("/Marker");
    }

    private static boolean isLevel(Type type) {
        String name = type.getSort() == Type.OBJECT ? type.getInternalName() : "";
        return name.endsWith("Level") || name.endsWith("/Priority");
    }

    private static int lastText(Type[] types) {
        int found = 0;
        for (int k = 0; k < types.length; k++)
            if (types[k].getSort() == Type.OBJECT && types[k].getInternalName().equals(STRING)) found = k;
        return found;
    }

    private static boolean isThrowable(Type type) {
        return type.getSort() == Type.OBJECT && type.getInternalName().equals("java/lang/Throwable");
    }

    /** Whether the last of what is filled in is an exception: loggers show its stack trace. */
    private static boolean isThrown(SourceValue value, int before, Code code) {
        for (AbstractInsnNode each : value.insns) {
            if (Code.isCaught(each)) return true;
            String type = Types.of(each, code);
            if (type == null) continue;
            if (type.endsWith("Exception") || type.endsWith("Error") || type.endsWith("Throwable")) return true;
            if (each.getOpcode() != Opcodes.ANEWARRAY) continue;
            SourceValue last = null;
            for (int k = code.index(each); k < before; k++)
                if (code.flow.instructions[k].getOpcode() == Opcodes.AASTORE && code.isReached(k)
                        && code.operands(k).get(0).insns.contains(each)) last = code.operands(k).get(2);
            if (last != null && isThrown(last, before, code)) return true;
        }
        return false;
    }

    /** The name of an enumeration's or a class's constant. */
    private static String constant(SourceValue value) {
        AbstractInsnNode origin = Code.only(value);
        return origin != null && origin.getOpcode() == Opcodes.GETSTATIC ? ((FieldInsnNode) origin).name : UNKNOWN;
    }

    private static Set<String> set(String... names) {
        return new HashSet<>(Arrays.asList(names));
    }
}
