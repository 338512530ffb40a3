package cutset.jvm.extract;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.analysis.SourceValue;

/** Log statements with the text they write; of methods that only pass a text on to a logger, the calls are. */
final class Statements {
    private static final int MOST = 8; // alternatives of one statement
    private final Program program;
    private final Constants constants;
    private final Loggers loggers;
    private final Map<String, Wrapper> wrappers = new HashMap<>();

    static final class Statement {
        final String level, template, logger;
        final boolean hasThrowable;

        Statement(String level, String template, String logger, boolean hasThrowable) {
            this.level = level;
            this.template = template;
            this.logger = logger;
            this.hasThrowable = hasThrowable;
        }
    }

    /** A method of the program with a parameter that goes straight into a logger. */
    private static final class Wrapper {
        String level, before, after, logger;
        int message;
        LogCall.Style style;
        boolean hasThrowable;
    }

    Statements(Program program, Iterable<String> types) {
        this.program = program;
        constants = new Constants(program);
        loggers = new Loggers(program, constants);
        for (String name : types) {
            ClassNode type = program.type(name);
            if (type == null) continue;
            for (MethodNode method : type.methods) {
                Wrapper found = wrapper(type, method);
                if (found != null) wrappers.put(type.name + "." + method.name + method.desc, found);
            }
        }
    }

    List<Statement> at(int instruction, Code code) {
        LogCall call = LogCall.of(instruction, code);
        if (call != null) return written(call, code);
        return wrappers.isEmpty() ? Collections.emptyList() : passedOn(instruction, code);
    }

    private List<Statement> written(LogCall call, Code code) {
        if (call.message == null)
            return Collections.singletonList(new Statement(call.level, "", null, call.hasThrowable));
        Loggers.Logger logger = loggers.of(call.logger);
        String prefix = call.hasPrefix || !logger.isPlain ? Texts.FILLED_IN : "";
        List<Statement> found = new ArrayList<>();
        for (String text : texts(call.message, code, call.style))
            found.add(new Statement(call.level, clean(prefix + text), logger.name, call.hasThrowable));
        boolean isPassedOn = found.size() == 1 && !hasText(found.get(0).template) && isOfParameter(call.message, code);
        return isPassedOn ? Collections.emptyList() : found;
    }

    /** What all alternatives have in common; if that is nothing, each of them. */
    private List<String> texts(SourceValue message, Code code, LogCall.Style style) {
        List<String> found = new ArrayList<>();
        for (String text : new Texts(program, constants, code, false).alternatives(message))
            found.add(Texts.filledIn(text, style));
        String common = Texts.common(found);
        return hasText(common) || found.size() > MOST ? Collections.singletonList(common) : found;
    }

    private List<Statement> passedOn(int instruction, Code code) {
        if (!(code.flow.instructions[instruction] instanceof MethodInsnNode) || !code.isReached(instruction))
            return Collections.emptyList();
        MethodInsnNode call = (MethodInsnNode) code.flow.instructions[instruction];
        if (!program.isAnalysed(call.owner)) return Collections.emptyList();
        Wrapper wrapper = null;
        for (String each : program.hierarchy.withSupertypes(call.owner)) {
            wrapper = wrappers.get(each + "." + call.name + call.desc);
            if (wrapper != null || call.name.equals("<init>")) break;
        }
        if (wrapper == null) return Collections.emptyList();
        SourceValue message = code.arguments(instruction).get(wrapper.message);
        List<Statement> found = new ArrayList<>();
        for (String text : texts(message, code, wrapper.style)) {
            String template = clean(wrapper.before + text + wrapper.after);
            if (hasText(template) || !isOfParameter(message, code))
                found.add(new Statement(wrapper.level, template, wrapper.logger, wrapper.hasThrowable));
        }
        return found;
    }

    private Wrapper wrapper(ClassNode type, MethodNode method) {
        if (!method.desc.contains("Ljava/lang/String;") && !method.desc.contains("Ljava/lang/Object;")) return null;
        boolean mayLog = false;
        for (AbstractInsnNode each : method.instructions)
            mayLog |= each instanceof MethodInsnNode
                    && (LogCall.isLogger(((MethodInsnNode) each).owner) || ((MethodInsnNode) each).name.equals("println"));
        if (!mayLog) return null;
        Code code = new Code(type, method);
        for (int k = 0; k < code.flow.instructions.length; k++) {
            LogCall call = LogCall.of(k, code);
            if (call == null || call.message == null) continue;
            String text = new Texts(program, constants, code, true).text(call.message);
            int mark = text.indexOf(Texts.PARAMETER);
            if (mark < 0 || text.indexOf(Texts.PARAMETER, mark + 2) >= 0) continue;
            Wrapper found = new Wrapper();
            found.before = text.substring(0, mark);
            found.after = text.substring(mark + 2);
            if (hasText(found.before + found.after)) continue; // a statement of its own
            found.message = text.charAt(mark + 1);
            found.level = call.level;
            found.logger = loggers.of(call.logger).name;
            found.hasThrowable = call.hasThrowable;
            found.style = call.style != LogCall.Style.AS_IS ? call.style : styleOf(code, found.message);
            return found;
        }
        return null;
    }

    /** If the parameter is formatted on the way to the logger. */
    private static LogCall.Style styleOf(Code code, int parameter) {
        for (AbstractInsnNode each : code.flow.instructions)
            if (each instanceof MethodInsnNode
                    && ((MethodInsnNode) each).owner.equals("java/lang/String")
                    && ((MethodInsnNode) each).name.equals("format")
                    && Type.getArgumentTypes(code.method.desc).length > parameter + 1) return LogCall.Style.PERCENT;
        return LogCall.Style.AS_IS;
    }

    /** Whether a parameter is part of it, in whatever way. */
    private static boolean isOfParameter(SourceValue message, Code code) {
        Set<AbstractInsnNode> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<AbstractInsnNode> todo = new ArrayDeque<>(message.insns);
        while (!todo.isEmpty()) {
            AbstractInsnNode each = todo.poll();
            if (code.isParameter(each)) {
                if (code.parameter(each) >= 0) return true;
            } else if (seen.add(each)) {
                for (SourceValue value : code.operands(code.index(each))) todo.addAll(value.insns);
            }
        }
        return false;
    }

    private static boolean hasText(String template) {
        return template.chars().anyMatch(Character::isLetterOrDigit);
    }

    private static String clean(String template) {
        return template.replaceAll(Texts.FILLED_IN + "{2,}", Texts.FILLED_IN);
    }
}
