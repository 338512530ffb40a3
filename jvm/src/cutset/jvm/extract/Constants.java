package cutset.jvm.extract;

import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.analysis.SourceValue;

/** Values of final fields: what the only write, where the class or an object of it is made, puts there. */
final class Constants {
    private final Program program;
    private final Map<String, String> texts = new HashMap<>();

    /** The write of a field. */
    static final class Write {
        final Code code;
        final SourceValue value;

        Write(Code code, SourceValue value) {
            this.code = code;
            this.value = value;
        }
    }

    Constants(Program program) {
        this.program = program;
    }

    /** The text of a final field. */
    String field(FieldInsnNode read, int depth) {
        if (!read.desc.equals("Ljava/lang/String;") || depth > 4) return Texts.FILLED_IN;
        String key = read.owner + "." + read.name;
        String known = texts.get(key);
        if (known != null) return known;
        texts.put(key, Texts.FILLED_IN); // should it be made of itself
        FieldNode field = find(read);
        String text = Texts.FILLED_IN;
        if (field != null && field.value != null) text = String.valueOf(field.value);
        else if (field != null && (field.access & Opcodes.ACC_FINAL) != 0) {
            Write write = onlyWrite(read);
            if (write != null) text = new Texts(program, this, write.code, false).text(write.value);
        }
        texts.put(key, text);
        return text;
    }

    /** Null if there is none, or several. */
    Write onlyWrite(FieldInsnNode read) {
        ClassNode type = program.type(read.owner);
        if (type == null) return null;
        Write found = null;
        for (MethodNode method : type.methods) {
            if (!method.name.equals("<clinit>") && !method.name.equals("<init>") || !writes(method, read)) continue;
            Code code = new Code(type, method);
            for (int k = 0; k < code.flow.instructions.length; k++) {
                if (!isWrite(code.flow.instructions[k], read) || !code.isReached(k)) continue;
                if (found != null) return null;
                found = new Write(code, code.operands(k).get(code.operands(k).size() - 1));
            }
        }
        return found;
    }

    private static boolean writes(MethodNode method, FieldInsnNode read) {
        for (AbstractInsnNode each : method.instructions) if (isWrite(each, read)) return true;
        return false;
    }

    private static boolean isWrite(AbstractInsnNode each, FieldInsnNode read) {
        if (each.getOpcode() != Opcodes.PUTSTATIC && each.getOpcode() != Opcodes.PUTFIELD) return false;
        FieldInsnNode field = (FieldInsnNode) each;
        return field.name.equals(read.name) && field.owner.equals(read.owner);
    }

    private FieldNode find(FieldInsnNode read) {
        ClassNode type = program.type(read.owner);
        if (type == null) return null;
        for (FieldNode each : type.fields) if (each.name.equals(read.name)) return each;
        return null;
    }
}
