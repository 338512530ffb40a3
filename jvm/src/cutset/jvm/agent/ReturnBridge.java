package cutset.jvm.agent;

import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * A call that may give back a wrong value goes through a method of its own: there the branch has a frame that is known
 * without an analysis, since nothing but the parameters is in it. Only calls with such a fault do.
 */
final class ReturnBridge {
    static final String PREFIX = "cutset$return$";

    private ReturnBridge() {}

    /** Whether a value can be given back in place of a call: of its type; not for `super`, nor for constructors. */
    static boolean isPossible(MethodInsnNode call, Object value) {
        if (call.getOpcode() == Opcodes.INVOKESPECIAL) return false;
        switch (Type.getReturnType(call.desc).getSort()) {
            case Type.VOID:
            case Type.ARRAY:
                return value == null;
            case Type.OBJECT:
                return value == null || value instanceof String && call.desc.endsWith(")Ljava/lang/String;");
            case Type.BOOLEAN:
                return value instanceof Boolean;
            case Type.FLOAT:
            case Type.DOUBLE:
                return value instanceof Number;
            default:
                return value instanceof Long;
        }
    }

    /** Adds the method to a class; what calls it. */
    static MethodInsnNode add(ClassNode type, MethodInsnNode call, int site, int line, List<Object> values) {
        boolean inInterface = (type.access & Opcodes.ACC_INTERFACE) != 0;
        boolean isStatic = call.getOpcode() == Opcodes.INVOKESTATIC;
        String receiver = isStatic ? "" : Type.getObjectType(call.owner).getDescriptor();
        String descriptor = "(" + receiver + call.desc.substring(1);
        String name = PREFIX + site;
        for (int k = 1; has(type, name); k++) name = PREFIX + site + "$" + k;
        int access = Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC;
        MethodNode bridge = new MethodNode(access, name, descriptor, null, null);
        write(bridge, call, site, line, values);
        type.methods.add(bridge);
        return new MethodInsnNode(Opcodes.INVOKESTATIC, type.name, name, descriptor, inInterface);
    }

    private static void write(MethodNode bridge, MethodInsnNode call, int site, int line, List<Object> values) {
        Type returned = Type.getReturnType(call.desc);
        LabelNode begin = new LabelNode(), callIt = new LabelNode();
        LabelNode[] giveBack = new LabelNode[values.size()];
        for (int k = 0; k < giveBack.length; k++) giveBack[k] = new LabelNode();
        InsnList code = bridge.instructions;
        code.add(begin);
        code.add(new LineNumberNode(line, begin));
        code.add(Weaver.push(site));
        code.add(Weaver.callHook("visitReturning", "(I)I"));
        code.add(new TableSwitchInsnNode(1, giveBack.length, callIt, giveBack));
        for (int k = 0; k < giveBack.length; k++) {
            code.add(giveBack[k]);
            code.add(new FrameNode(Opcodes.F_SAME, 0, null, 0, null));
            if (returned != Type.VOID_TYPE) code.add(constant(returned, values.get(k)));
            code.add(new InsnNode(returned.getOpcode(Opcodes.IRETURN)));
        }
        code.add(callIt);
        code.add(new FrameNode(Opcodes.F_SAME, 0, null, 0, null));
        int variable = 0;
        for (Type each : Type.getArgumentTypes(bridge.desc)) {
            code.add(new VarInsnNode(each.getOpcode(Opcodes.ILOAD), variable));
            variable += each.getSize();
        }
        code.add(new MethodInsnNode(call.getOpcode(), call.owner, call.name, call.desc, call.itf));
        code.add(new InsnNode(returned.getOpcode(Opcodes.IRETURN)));
        bridge.maxLocals = variable;
        bridge.maxStack = Math.max(2, variable);
    }

    private static AbstractInsnNode constant(Type type, Object value) {
        if (value == null) return new InsnNode(Opcodes.ACONST_NULL);
        switch (type.getSort()) {
            case Type.LONG:
                return new LdcInsnNode(value);
            case Type.FLOAT:
                return new LdcInsnNode(((Number) value).floatValue());
            case Type.DOUBLE:
                return new LdcInsnNode(((Number) value).doubleValue());
            case Type.OBJECT:
                return new LdcInsnNode(value);
            case Type.BOOLEAN:
                return Weaver.push((Boolean) value ? 1 : 0);
            default:
                return Weaver.push(((Number) value).intValue());
        }
    }

    private static boolean has(ClassNode type, String name) {
        for (MethodNode each : type.methods) if (each.name.equals(name)) return true;
        return false;
    }
}
