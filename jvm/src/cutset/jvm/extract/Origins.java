package cutset.jvm.extract;

import cutset.jvm.Harmless;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.analysis.SourceValue;

/** What a value is made of: fields, results of calls, parameters, constants that were chosen in another block. */
final class Origins {
    final Set<String> fields = new TreeSet<>(); // "owner.name"
    final Set<Integer> calls = new TreeSet<>(); // instructions
    final Set<Integer> constants = new TreeSet<>(); // instructions
    final Set<Integer> parameters = new TreeSet<>();

    /** Calls that can tell nothing of their own, as of collections, are looked through. */
    static Origins of(Collection<SourceValue> values, Code code, Program program) {
        Origins found = new Origins();
        Set<AbstractInsnNode> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<AbstractInsnNode> todo = new ArrayDeque<>();
        for (SourceValue value : values) todo.addAll(value.insns);
        while (!todo.isEmpty()) {
            AbstractInsnNode each = todo.poll();
            if (!seen.add(each)) continue;
            if (code.isParameter(each)) {
                if (code.parameter(each) >= 0) found.parameters.add(code.parameter(each));
                continue;
            }
            int at = code.index(each);
            if (each instanceof FieldInsnNode) {
                found.fields.add(Fields.name((FieldInsnNode) each));
            } else if (each instanceof MethodInsnNode) {
                MethodInsnNode call = (MethodInsnNode) each;
                boolean isOwn = program.isAnalysed(call.owner);
                if (isOwn || !Harmless.is(call.owner, call.name)) found.calls.add(at);
                else for (SourceValue value : code.arguments(at)) todo.addAll(value.insns);
                SourceValue receiver = isOwn ? null : code.receiver(at);
                if (receiver != null) todo.addAll(receiver.insns);
            } else if (isConstant(each) || Code.isCaught(each)) {
                found.constants.add(at);
            } else {
                if (each instanceof InvokeDynamicInsnNode && Lambdas.body(each) != null) {
                    found.calls.add(at); // what `filter` gives depends on what its lambda returns
                    continue;
                }
                for (SourceValue value : code.operands(at)) todo.addAll(value.insns);
            }
        }
        return found;
    }

    /** The blocks, other than this one, where a constant was chosen. */
    Set<Integer> chosenElsewhere(int block, Code code) {
        Set<Integer> found = new TreeSet<>();
        for (int each : constants) if (code.flow.block[each] != block) found.add(code.flow.block[each]);
        return found;
    }

    static boolean isConstant(AbstractInsnNode each) {
        int opcode = each.getOpcode();
        return opcode >= Opcodes.ACONST_NULL && opcode <= Opcodes.LDC || opcode == Opcodes.IINC;
    }
}
