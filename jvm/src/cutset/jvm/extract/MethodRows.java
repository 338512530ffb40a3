package cutset.jvm.extract;

import cutset.jvm.Flow;
import cutset.jvm.FoundSite;
import cutset.jvm.Harmless;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.analysis.SourceValue;

/** The tables of one method. */
final class MethodRows {
    private static final int LAMBDA = 0, OBJECT = 1; // kinds of what is handed to a call
    private static final int DROPPED = 1; // of a call's flags

    private final Program program;
    private final Statements statements;
    private final Strings strings;
    private final Mentioned mentioned;
    private final Code code;
    private final Flow flow;
    private final Map<AbstractInsnNode, Integer> sites = new IdentityHashMap<>();
    private final Map<String, List<Object>> tables = new LinkedHashMap<>();
    private final Set<Integer> needed = new TreeSet<>(); // calls that other rows speak of

    MethodRows(Program program, Statements statements, Strings strings, Mentioned mentioned, Code code) {
        this.program = program;
        this.statements = statements;
        this.strings = strings;
        this.mentioned = mentioned;
        this.code = code;
        flow = code.flow;
        for (String name : "b k h g t q w a r y".split(" ")) tables.put(name, new ArrayList<>());
    }

    void knowSite(FoundSite site, int number) {
        for (AbstractInsnNode each : site.statements) sites.put(each, number);
    }

    Map<String, List<Object>> read() {
        blocks();
        for (int at = 0; at < flow.instructions.length; at++) {
            AbstractInsnNode each = flow.instructions[at];
            if (each.getOpcode() < 0) continue;
            if (Flow.isCondition(each)) condition(at);
            if (each instanceof MethodInsnNode) handed((MethodInsnNode) each, at);
            else if (each instanceof FieldInsnNode) write((FieldInsnNode) each, at);
            else if (each.getOpcode() == Opcodes.ATHROW) thrown(at);
            else if (each.getOpcode() == Opcodes.NEW) made((TypeInsnNode) each, at);
            else if (each.getOpcode() >= Opcodes.IRETURN && each.getOpcode() <= Opcodes.RETURN) returned(at);
        }
        for (int at = 0; at < flow.instructions.length; at++) {
            if (flow.instructions[at] instanceof MethodInsnNode) called((MethodInsnNode) flow.instructions[at], at);
            else if (Lambdas.body(flow.instructions[at]) != null) lambda(Lambdas.body(flow.instructions[at]), at);
        }
        for (TryCatchBlockNode each : code.method.tryCatchBlocks) {
            if (each.type != null) mentioned.exception(each.type);
            int handler = flow.block[code.index(each.handler)];
            add("y", code.index(each.start), code.index(each.end), handler, strings.type(each.type));
        }
        return tables;
    }

    private void blocks() {
        List<List<Integer>> handlers = flow.handlersTo();
        for (int block = 0; block < flow.begin.length; block++) {
            int first = flow.begin[block];
            while (first + 1 < flow.end(block) && flow.instructions[first].getOpcode() < 0) first++;
            add("b", flow.line[first], list(flow.controlling()[block]), handlers.get(block), list(flow.successors[block]));
        }
    }

    private void called(MethodInsnNode call, int at) {
        for (Statements.Statement each : statements.at(at, code))
            add("g", at, flow.block[at], flow.line[at], strings.number(each.level), strings.number(each.template),
                    each.hasThrowable ? 1 : 0, strings.number(each.logger));
        boolean isOwn = program.isAnalysed(call.owner);
        if (!isOwn && Harmless.is(call.owner, call.name) && !needed.contains(at)) return;
        List<String> declared = isOwn
                ? Collections.emptyList()
                : program.hierarchy.declared(call.owner, call.name, call.desc);
        declared.forEach(mentioned::exception);
        mentioned.type(call.owner);
        AbstractInsnNode next = call.getNext();
        while (next != null && next.getOpcode() < 0) next = next.getNext();
        boolean isDropped = next != null && (next.getOpcode() == Opcodes.POP || next.getOpcode() == Opcodes.POP2);
        add("k", at, flow.block[at], flow.line[at], call.getOpcode(), strings.type(call.owner),
                strings.number(call.name), strings.number(call.desc), sites.getOrDefault(call, -1),
                strings.types(declared), isDropped && !call.desc.endsWith(")V") ? DROPPED : 0);
    }

    private void lambda(Handle body, int at) {
        boolean isOwn = program.isAnalysed(body.getOwner());
        if (!isOwn && Harmless.is(body.getOwner(), body.getName())) return;
        List<String> declared = isOwn
                ? Collections.emptyList()
                : program.hierarchy.declared(body.getOwner(), body.getName(), body.getDesc());
        declared.forEach(mentioned::exception);
        mentioned.type(body.getOwner());
        add("k", at, flow.block[at], flow.line[at], Opcodes.INVOKEDYNAMIC, strings.type(body.getOwner()),
                strings.number(body.getName()), strings.number(body.getDesc()), -1, strings.types(declared), 0);
    }

    /** What a call is given to run: lambdas, and objects of the program's own classes. */
    private void handed(MethodInsnNode call, int at) {
        boolean isOwn = program.isAnalysed(call.owner);
        List<SourceValue> arguments = code.arguments(at);
        for (int number = 0; number < arguments.size(); number++) {
            Set<String> lambdas = new TreeSet<>(), types = new TreeSet<>();
            for (AbstractInsnNode origin : arguments.get(number).insns) {
                Handle body = Lambdas.body(origin);
                if (body != null) lambdas.add(Lambdas.name(body));
                else if (!isOwn || origin.getOpcode() == Opcodes.NEW) {
                    String type = Types.of(origin, code);
                    if (type != null && program.isAnalysed(type)) types.add(type);
                }
            }
            for (String each : lambdas) add("h", at, number, LAMBDA, strings.number(each));
            for (String each : types) add("h", at, number, OBJECT, strings.type(each));
            if (!lambdas.isEmpty() || !types.isEmpty() && !isLogger(call)) needed.add(at);
        }
        SourceValue receiver = Fields.changes(call) ? code.receiver(at) : null;
        if (receiver == null) return;
        for (String field : fieldsHolding(receiver)) {
            Origins origins = Origins.of(arguments, code, program);
            needed.addAll(origins.calls);
            add("w", at, flow.block[at], flow.line[at], strings.number(field), origins.calls,
                    strings.numbers(origins.fields));
        }
    }

    private static boolean isLogger(MethodInsnNode call) {
        return LogCall.isLogger(call.owner);
    }

    private static Set<String> fieldsHolding(SourceValue value) {
        Set<String> found = new TreeSet<>();
        for (AbstractInsnNode each : value.insns)
            if (each instanceof FieldInsnNode) found.add(Fields.name((FieldInsnNode) each));
        return found;
    }

    private void condition(int at) {
        Origins origins = Origins.of(code.operands(at), code, program);
        needed.addAll(origins.calls);
        int block = flow.block[at];
        add("q", block, flow.line[at], strings.numbers(origins.fields), origins.calls,
                origins.chosenElsewhere(block, code), origins.parameters);
    }

    private void write(FieldInsnNode field, int at) {
        if (field.getOpcode() != Opcodes.PUTFIELD && field.getOpcode() != Opcodes.PUTSTATIC) return;
        List<SourceValue> operands = code.operands(at);
        if (!operands.isEmpty()) operands = operands.subList(operands.size() - 1, operands.size());
        Origins origins = Origins.of(operands, code, program);
        needed.addAll(origins.calls);
        add("w", at, flow.block[at], flow.line[at], strings.number(Fields.name(field)), origins.calls,
                strings.numbers(origins.fields));
    }

    private void thrown(int at) {
        if (!code.isReached(at)) return;
        Set<String> types = new TreeSet<>();
        Set<Integer> handlers = new TreeSet<>();
        for (AbstractInsnNode origin : code.operands(at).get(0).insns) {
            if (Code.isCaught(origin)) handlers.add(flow.block[code.index(origin)]);
            else if (Types.of(origin, code) != null) types.add(Types.of(origin, code));
        }
        types.forEach(mentioned::exception);
        int site = sites.getOrDefault(flow.instructions[at], -1);
        add("t", at, flow.block[at], flow.line[at], strings.types(types), handlers, site);
    }

    private void made(TypeInsnNode each, int at) {
        if (program.isAnalysed(each.desc)) add("a", at, flow.block[at], strings.type(each.desc));
    }

    /** A row for the value, and one for each constant that was chosen for it elsewhere. */
    private void returned(int at) {
        int block = flow.block[at];
        Origins origins = Origins.of(code.operands(at), code, program);
        needed.addAll(origins.calls);
        boolean isChosen = false;
        Object here = null;
        for (int each : origins.constants) {
            if (flow.block[each] == block) here = constant(flow.instructions[each]);
            else {
                add("r", flow.block[each], flow.line[each], list(), list(), constant(flow.instructions[each]));
                isChosen = true;
            }
        }
        if (isChosen && origins.calls.isEmpty() && origins.fields.isEmpty() && here == null) return;
        add("r", block, flow.line[at], origins.calls, strings.numbers(origins.fields), here);
    }

    /** Numbers as they are, "null" for null; null for what is no constant, and for texts. */
    private static Object constant(AbstractInsnNode each) {
        int opcode = each.getOpcode();
        if (opcode == Opcodes.ACONST_NULL) return "null";
        if (opcode >= Opcodes.ICONST_M1 && opcode <= Opcodes.ICONST_5) return opcode - Opcodes.ICONST_0;
        if (opcode == Opcodes.LCONST_0 || opcode == Opcodes.LCONST_1) return opcode - Opcodes.LCONST_0;
        if (each instanceof IntInsnNode) return ((IntInsnNode) each).operand;
        if (!(each instanceof LdcInsnNode)) return null;
        Object value = ((LdcInsnNode) each).cst;
        return value instanceof Integer || value instanceof Long ? value : null;
    }

    private void add(String table, Object... row) {
        tables.get(table).add(Arrays.asList(row));
    }

    private static Collection<Integer> list(int... numbers) {
        List<Integer> found = new ArrayList<>(numbers.length);
        for (int each : numbers) found.add(each);
        return found;
    }
}
