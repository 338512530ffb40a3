package cutset.jvm.extract;

import cutset.jvm.Flow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.Frame;
import org.objectweb.asm.tree.analysis.SourceInterpreter;
import org.objectweb.asm.tree.analysis.SourceValue;

/** A method with its flow, and for each operand of its instructions where the value comes from (reaching definitions). */
final class Code {
    private static final int MOST_VALUES = 20_000_000; // instructions times slots; more has only generated code

    final ClassNode type;
    final MethodNode method;
    final Flow flow;
    private final Map<AbstractInsnNode, Integer> parameters = new IdentityHashMap<>(); // stand-ins; `this` is -1
    private Frame<SourceValue>[] frames; // null: not known

    Code(ClassNode type, MethodNode method) {
        this.type = type;
        this.method = method;
        flow = new Flow(method);
        long slots = (long) flow.instructions.length * (method.maxLocals + method.maxStack);
        if (slots > MOST_VALUES || flow.instructions.length == 0) return;
        try {
            frames = new Analyzer<>(new Origin()).analyze(type.name, method);
        } catch (AnalyzerException | RuntimeException unverifiable) {
            frames = null;
        }
    }

    boolean isReached(int instruction) {
        return frames != null && frames[instruction] != null;
    }

    /** The values an instruction takes from the stack, in order; a receiver is the first. */
    List<SourceValue> operands(int instruction) {
        if (!isReached(instruction)) return Collections.emptyList();
        Frame<SourceValue> frame = frames[instruction];
        int count = Math.min(operandCount(flow.instructions[instruction]), frame.getStackSize());
        List<SourceValue> found = new ArrayList<>(count);
        for (int k = frame.getStackSize() - count; k < frame.getStackSize(); k++) found.add(frame.getStack(k));
        return found;
    }

    /** Of a call, without its receiver. */
    List<SourceValue> arguments(int instruction) {
        List<SourceValue> all = operands(instruction);
        boolean hasReceiver = !all.isEmpty()
                && flow.instructions[instruction] instanceof MethodInsnNode
                && flow.instructions[instruction].getOpcode() != Opcodes.INVOKESTATIC;
        return hasReceiver ? all.subList(1, all.size()) : all;
    }

    /** Null for the call of a static method. */
    SourceValue receiver(int instruction) {
        List<SourceValue> all = operands(instruction);
        return all.isEmpty() || flow.instructions[instruction].getOpcode() == Opcodes.INVOKESTATIC ? null : all.get(0);
    }

    int index(AbstractInsnNode instruction) {
        return flow.index(instruction);
    }

    boolean isParameter(AbstractInsnNode origin) {
        return parameters.containsKey(origin);
    }

    /** Its place among the parameters; -1 for `this`. */
    int parameter(AbstractInsnNode origin) {
        return parameters.get(origin);
    }

    Type parameterType(int number) {
        return number < 0 ? Type.getObjectType(type.name) : Type.getArgumentTypes(method.desc)[number];
    }

    /** Whether the value is what a handler caught. */
    static boolean isCaught(AbstractInsnNode origin) {
        return origin instanceof LabelNode;
    }

    /** The only origin of a value, or null. */
    static AbstractInsnNode only(SourceValue value) {
        return value != null && value.insns.size() == 1 ? value.insns.iterator().next() : null;
    }

    static int operandCount(AbstractInsnNode each) {
        int opcode = each.getOpcode();
        if (each instanceof MethodInsnNode)
            return Type.getArgumentCount(((MethodInsnNode) each).desc) + (opcode == Opcodes.INVOKESTATIC ? 0 : 1);
        if (each instanceof InvokeDynamicInsnNode) return Type.getArgumentCount(((InvokeDynamicInsnNode) each).desc);
        if (each instanceof MultiANewArrayInsnNode) return ((MultiANewArrayInsnNode) each).dims;
        if (opcode >= Opcodes.IALOAD && opcode <= Opcodes.SALOAD) return 2;
        if (opcode >= Opcodes.ISTORE && opcode <= Opcodes.ASTORE) return 1;
        if (opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE) return 3;
        if (opcode >= Opcodes.INEG && opcode <= Opcodes.DNEG) return 1;
        if (opcode >= Opcodes.IADD && opcode <= Opcodes.LXOR) return 2;
        if (opcode >= Opcodes.I2L && opcode <= Opcodes.I2S) return 1;
        if (opcode >= Opcodes.LCMP && opcode <= Opcodes.DCMPG) return 2;
        if (opcode >= Opcodes.IFEQ && opcode <= Opcodes.IFLE) return 1;
        if (opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE) return 2;
        if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.ARETURN) return 1;
        switch (opcode) {
            case Opcodes.TABLESWITCH:
            case Opcodes.LOOKUPSWITCH:
            case Opcodes.PUTSTATIC:
            case Opcodes.GETFIELD:
            case Opcodes.NEWARRAY:
            case Opcodes.ANEWARRAY:
            case Opcodes.ARRAYLENGTH:
            case Opcodes.ATHROW:
            case Opcodes.CHECKCAST:
            case Opcodes.INSTANCEOF:
            case Opcodes.MONITORENTER:
            case Opcodes.MONITOREXIT:
            case Opcodes.IFNULL:
            case Opcodes.IFNONNULL:
                return 1;
            case Opcodes.PUTFIELD:
                return 2;
            default:
                return 0;
        }
    }

    /** Values keep their origin through local variables, `dup` and casts; parameters and what is caught have one, too. */
    private final class Origin extends SourceInterpreter {
        Origin() {
            super(Opcodes.ASM9);
        }

        @Override
        public SourceValue newParameterValue(boolean isInstanceMethod, int local, Type kind) {
            AbstractInsnNode standIn = new VarInsnNode(Opcodes.ALOAD, local);
            int number = isInstanceMethod ? -1 : 0;
            for (int slot = 0; slot < local; number++)
                slot += number < 0 ? 1 : parameterType(number).getSize();
            parameters.put(standIn, number);
            return new SourceValue(kind.getSize(), standIn);
        }

        @Override
        public SourceValue newExceptionValue(TryCatchBlockNode range, Frame<SourceValue> frame, Type kind) {
            return new SourceValue(1, range.handler);
        }

        @Override
        public SourceValue copyOperation(AbstractInsnNode instruction, SourceValue value) {
            return value;
        }

        @Override
        public SourceValue unaryOperation(AbstractInsnNode instruction, SourceValue value) {
            return instruction.getOpcode() == Opcodes.CHECKCAST ? value : super.unaryOperation(instruction, value);
        }
    }
}
