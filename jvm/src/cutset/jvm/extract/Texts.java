package cutset.jvm.extract;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.analysis.SourceValue;

/** The text that a value has whenever the program runs, with {@link #FILLED_IN} for what differs. */
final class Texts {
    static final String FILLED_IN = "\u0001";
    static final char PARAMETER = '\u0002'; // then the number of the parameter, as a character
    private static final int DEEPEST = 12; // values of values: of concatenations, local variables, own methods
    private static final Pattern PERCENT = Pattern.compile("%(?:\\d+\\$)?[-#+ 0,(<]*\\d*(?:\\.\\d+)?[tT]?([a-zA-Z%])");
    private static final Pattern MARK = Pattern.compile("(?s)" + PARAMETER + ".");
    private static final Pattern BRACES = Pattern.compile("(?<!\\\\)\\{\\}");
    private static final Pattern NUMBERED = Pattern.compile("\\{\\d+[^{}]*\\}");

    private final Program program;
    private final Constants constants;
    private final Code code;
    private final boolean marksParameters;
    private final int depth;

    Texts(Program program, Constants constants, Code code, boolean marksParameters) {
        this(program, constants, code, marksParameters, 0);
    }

    private Texts(Program program, Constants constants, Code code, boolean marksParameters, int depth) {
        this.program = program;
        this.constants = constants;
        this.code = code;
        this.marksParameters = marksParameters;
        this.depth = depth;
    }

    /** One for each way the value can come about. */
    List<String> alternatives(SourceValue value) {
        List<String> found = new ArrayList<>();
        for (AbstractInsnNode each : value.insns) {
            if (each.getOpcode() == Opcodes.ACONST_NULL && value.insns.size() > 1) continue; // set before it is chosen
            String text = text(each);
            if (!found.contains(text)) found.add(text);
        }
        return found.isEmpty() ? Collections.singletonList(FILLED_IN) : found;
    }

    /** What all alternatives have in common, at the beginning and at the end. */
    static String common(List<String> texts) {
        String first = texts.get(0);
        int begin = first.length(), end = first.length();
        for (String each : texts) {
            int same = 0, most = Math.min(begin, each.length());
            while (same < most && first.charAt(same) == each.charAt(same)) same++;
            begin = same;
        }
        if (begin == first.length() && texts.stream().allMatch(first::equals)) return first;
        int shortest = texts.stream().mapToInt(String::length).min().getAsInt() - begin;
        end = Math.max(0, shortest);
        for (String each : texts) {
            int same = 0;
            while (same < end && first.charAt(first.length() - 1 - same) == each.charAt(each.length() - 1 - same)) same++;
            end = same;
        }
        return first.substring(0, begin) + FILLED_IN + first.substring(first.length() - end);
    }

    static String filledIn(String text, LogCall.Style style) {
        switch (style) {
            case BRACES:
                return BRACES.matcher(text).replaceAll(FILLED_IN).replace("\\{}", "{}");
            case NUMBERED:
                return NUMBERED.matcher(text).replaceAll(FILLED_IN).replace("''", "'");
            case PERCENT:
                return formatted(text);
            default:
                return text;
        }
    }

    String text(SourceValue value) {
        return common(alternatives(value));
    }

    private static String formatted(String text) {
        Matcher matcher = PERCENT.matcher(text);
        StringBuffer found = new StringBuffer();
        while (matcher.find()) {
            char kind = matcher.group(1).charAt(0);
            matcher.appendReplacement(found, kind == '%' ? "%" : kind == 'n' ? "\n" : FILLED_IN);
        }
        return matcher.appendTail(found).toString();
    }

    private String text(AbstractInsnNode origin) {
        if (depth > DEEPEST) return FILLED_IN;
        Texts deeper = new Texts(program, constants, code, marksParameters, depth + 1);
        if (code.isParameter(origin)) {
            int number = code.parameter(origin);
            return marksParameters && number >= 0 ? "" + PARAMETER + (char) number : FILLED_IN;
        }
        int at = code.index(origin);
        if (origin instanceof LdcInsnNode) return String.valueOf(((LdcInsnNode) origin).cst);
        if (origin.getOpcode() == Opcodes.ACONST_NULL) return "null";
        if (origin instanceof FieldInsnNode) return constants.field((FieldInsnNode) origin, depth + 1);
        if (origin instanceof InvokeDynamicInsnNode) return deeper.dynamic((InvokeDynamicInsnNode) origin, at);
        if (origin instanceof MethodInsnNode) return deeper.called((MethodInsnNode) origin, at);
        if (origin.getOpcode() == Opcodes.NEW) return deeper.made((TypeInsnNode) origin, code.flow.instructions.length);
        return FILLED_IN;
    }

    private String dynamic(InvokeDynamicInsnNode origin, int at) {
        Handle body = Lambdas.body(origin);
        if (body != null) return withoutMarks(returned(program.code(body.getOwner(), body.getName(), body.getDesc())));
        if (!origin.bsm.getOwner().equals("java/lang/invoke/StringConcatFactory")) return FILLED_IN;
        List<SourceValue> operands = code.operands(at);
        StringBuilder found = new StringBuilder();
        if (origin.name.equals("makeConcat")) for (SourceValue each : operands) found.append(text(each));
        else {
            int operand = 0, constant = 1;
            for (char each : ((String) origin.bsmArgs[0]).toCharArray())
                if (each == '\u0001') found.append(operand < operands.size() ? text(operands.get(operand++)) : FILLED_IN);
                else if (each == '\u0002') found.append(origin.bsmArgs[constant++]);
                else found.append(each);
        }
        return found.toString();
    }

    private String called(MethodInsnNode call, int at) {
        List<SourceValue> arguments = code.arguments(at);
        SourceValue receiver = code.receiver(at);
        if (isBuilder(call.owner) && receiver != null) {
            AbstractInsnNode builder = root(call);
            boolean isMade = builder != null && builder.getOpcode() == Opcodes.NEW;
            return isMade ? made((TypeInsnNode) builder, at + (call.name.equals("toString") ? 0 : 1)) : FILLED_IN;
        }
        switch (call.owner + "." + call.name) {
            case "java/lang/String.format":
                return formatted(text(arguments.get(call.desc.startsWith("(Ljava/util/Locale;") ? 1 : 0)));
            case "java/lang/String.formatted":
                return formatted(text(receiver));
            case "java/lang/String.concat":
                return text(receiver) + text(arguments.get(0));
            case "java/lang/String.trim":
            case "java/lang/String.intern":
            case "java/lang/String.toString":
                return text(receiver);
            case "java/lang/String.valueOf":
            case "java/util/Objects.toString":
            case "scala/Predef$.augmentString":
            case "scala/Predef$.wrapString":
                return text(arguments.get(0));
            case "java/text/MessageFormat.format":
                return filledIn(text(arguments.get(0)), LogCall.Style.NUMBERED);
            case "kotlin/jvm/internal/Intrinsics.stringPlus":
                return text(arguments.get(0)) + text(arguments.get(1));
            case "scala/StringContext.s":
            case "scala/StringContext.f":
                return interpolated(Code.only(receiver));
            case "scala/collection/immutable/StringOps$.format$extension":
            case "scala/collection/StringOps$.format$extension":
                return formatted(text(arguments.get(0)));
            case "scala/collection/immutable/StringOps$.stripMargin$extension":
            case "scala/collection/StringOps$.stripMargin$extension":
                return text(arguments.get(0));
            case "scala/collection/immutable/StringOps.format":
            case "scala/collection/StringOps.format":
                return formatted(firstText(Code.only(receiver)));
            default:
                return passedThrough(call, arguments);
        }
    }

    /** Of a method of the program: what it always returns, with the texts it is given. */
    private String passedThrough(MethodInsnNode call, List<SourceValue> arguments) {
        if (!call.desc.endsWith(")Ljava/lang/String;") || !program.isAnalysed(call.owner)) return FILLED_IN;
        boolean isGivenText = call.desc.contains("Ljava/lang/String;)") || isFixed(call); // else it may be overridden
        if (!isGivenText) return FILLED_IN;
        Code other = null;
        for (String each : program.hierarchy.withSupertypes(call.owner))
            if (other == null) other = program.code(each, call.name, call.desc);
        StringBuilder found = new StringBuilder(returned(other));
        for (int at = 0; at < found.length(); at++) {
            if (found.charAt(at) != PARAMETER) continue;
            String text = text(arguments.get(found.charAt(at + 1)));
            found.replace(at, at + 2, text);
            at += text.length() - 1;
        }
        return found.toString();
    }

    private boolean isFixed(MethodInsnNode call) {
        if (call.getOpcode() == Opcodes.INVOKESTATIC) return true;
        ClassNode type = program.type(call.owner);
        if (type == null || (type.access & Opcodes.ACC_FINAL) != 0) return type != null;
        int fixed = Opcodes.ACC_FINAL | Opcodes.ACC_PRIVATE;
        return type.methods.stream()
                .filter(each -> each.name.equals(call.name) && each.desc.equals(call.desc))
                .anyMatch(each -> (each.access & fixed) != 0);
    }

    /** With marks for its parameters. */
    private String returned(Code other) {
        if (other == null) return FILLED_IN;
        Texts texts = new Texts(program, constants, other, true, depth + 1);
        List<String> found = new ArrayList<>();
        for (int k = 0; k < other.flow.instructions.length; k++)
            if (other.flow.instructions[k].getOpcode() == Opcodes.ARETURN && other.isReached(k))
                found.add(texts.text(other.operands(k).get(0)));
        return found.isEmpty() ? FILLED_IN : common(found);
    }

    private static String withoutMarks(String text) {
        return MARK.matcher(text).replaceAll(FILLED_IN);
    }

    /** Of a builder, what is appended to it up to an instruction; of a message's object, the text it is made of. */
    private String made(TypeInsnNode origin, int upTo) {
        if (!isBuilder(origin.desc)) return origin.desc.endsWith("Message") ? firstText(origin) : FILLED_IN;
        int begin = code.index(origin);
        int[] always = code.flow.controlling()[code.flow.block[begin]];
        StringBuilder found = new StringBuilder();
        for (int k = begin; k < upTo; k++) {
            if (!(code.flow.instructions[k] instanceof MethodInsnNode) || !code.isReached(k)) continue;
            MethodInsnNode call = (MethodInsnNode) code.flow.instructions[k];
            if (!isBuilder(call.owner) || !isAppending(call) || root(call) != origin) continue;
            boolean isAlways = Arrays.equals(always, code.flow.controlling()[code.flow.block[k]]);
            found.append(isAlways ? appended(call, k) : FILLED_IN);
        }
        return found.toString();
    }

    private static boolean isAppending(MethodInsnNode call) {
        boolean isMadeOfText = call.name.equals("<init>")
                && (call.desc.startsWith("(Ljava/lang/String;") || call.desc.startsWith("(Ljava/lang/CharSequence;"));
        return isMadeOfText || call.name.equals("append") || call.name.equals("$plus$plus$eq");
    }

    private String appended(MethodInsnNode call, int at) {
        List<SourceValue> arguments = code.arguments(at);
        if (arguments.size() != 1) return FILLED_IN;
        AbstractInsnNode origin = Code.only(arguments.get(0));
        boolean isCharacter = call.desc.startsWith("(C)");
        if (isCharacter && origin instanceof IntInsnNode) return String.valueOf((char) ((IntInsnNode) origin).operand);
        return isCharacter ? FILLED_IN : text(arguments.get(0));
    }

    private static boolean isBuilder(String owner) {
        return owner.equals("java/lang/StringBuilder")
                || owner.equals("java/lang/StringBuffer")
                || owner.equals("scala/collection/mutable/StringBuilder");
    }

    /** Where the builder comes from: what appends to it returns it. */
    private AbstractInsnNode root(MethodInsnNode call) {
        AbstractInsnNode each = call;
        while (each instanceof MethodInsnNode && isBuilder(((MethodInsnNode) each).owner))
            each = Code.only(code.receiver(code.index(each)));
        return each;
    }

    private String firstText(AbstractInsnNode made) {
        for (int k = made == null ? Integer.MAX_VALUE : code.index(made); k < code.flow.instructions.length; k++) {
            AbstractInsnNode each = code.flow.instructions[k];
            if (!(each instanceof MethodInsnNode) || !((MethodInsnNode) each).name.equals("<init>")) continue;
            SourceValue receiver = code.receiver(k);
            if (receiver == null || !receiver.insns.contains(made)) continue;
            Type[] types = Type.getArgumentTypes(((MethodInsnNode) each).desc);
            for (int which = 0; which < types.length; which++)
                if (types[which].getDescriptor().equals("Ljava/lang/String;")) {
                    String text = text(code.arguments(k).get(which));
                    return types.length > 1 ? filledIn(text, LogCall.Style.BRACES) : text;
                }
            return FILLED_IN;
        }
        return FILLED_IN;
    }

    /** {@code s"a $b"} of Scala: the parts are the elements of an array. */
    private String interpolated(AbstractInsnNode context) {
        if (context == null) return FILLED_IN;
        int begin = code.index(context);
        for (int k = begin; k >= 0 && k < code.flow.instructions.length; k++) {
            AbstractInsnNode each = code.flow.instructions[k];
            if (each.getOpcode() != Opcodes.ANEWARRAY) continue;
            StringBuilder found = new StringBuilder();
            for (int element = k; element < code.flow.instructions.length; element++) {
                if (code.flow.instructions[element].getOpcode() != Opcodes.AASTORE || !code.isReached(element)) continue;
                List<SourceValue> operands = code.operands(element);
                if (!operands.get(0).insns.contains(each)) continue;
                found.append(found.length() > 0 ? FILLED_IN : "").append(text(operands.get(2)));
            }
            return formatted(found.toString());
        }
        return FILLED_IN;
    }
}
