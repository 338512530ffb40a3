package cutset.jvm.extract;

import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** Classes of values, as far as where they come from tells. */
final class Types {
    private Types() {}

    /** As {@code org/a/Foo}, or null. */
    static String of(AbstractInsnNode origin, Code code) {
        if (code.isParameter(origin)) return name(code.parameterType(code.parameter(origin)));
        boolean isMade = origin instanceof TypeInsnNode && origin.getOpcode() != Opcodes.INSTANCEOF;
        if (isMade) return ((TypeInsnNode) origin).desc;
        if (origin instanceof FieldInsnNode) return name(Type.getType(((FieldInsnNode) origin).desc));
        if (origin instanceof MethodInsnNode) return name(Type.getReturnType(((MethodInsnNode) origin).desc));
        return null;
    }

    private static String name(Type type) {
        return type.getSort() == Type.OBJECT ? type.getInternalName() : null;
    }
}
