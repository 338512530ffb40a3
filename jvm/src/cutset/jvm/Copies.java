package cutset.jvm;

import java.util.IdentityHashMap;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Which instructions are copies of the same source code. Compilers copy the code of a `finally` (and what closes the
 * resources of a `try`) to each way out of the `try`: one copy is the handler's, and each of the others begins where
 * a range ends that the handler protects. They are read side by side for as long as they are alike.
 */
final class Copies {
    private static final String THROWABLE = "java/lang/Throwable";
    private final Map<AbstractInsnNode, AbstractInsnNode> same = new IdentityHashMap<>();

    static Copies of(MethodNode method) {
        Copies copies = new Copies();
        for (TryCatchBlockNode each : method.tryCatchBlocks) {
            if (each.type != null && !each.type.equals(THROWABLE)) continue;
            AbstractInsnNode stored = code(each.handler);
            if (stored == null) continue;
            if (stored.getOpcode() == Opcodes.ASTORE) copies.compare(code(stored.getNext()), code(each.end));
            if (each.type != null) copies.closed(stored);
        }
        return copies;
    }

    /** The same instruction for all copies of one. */
    AbstractInsnNode first(AbstractInsnNode each) {
        AbstractInsnNode found = each;
        for (AbstractInsnNode next; (next = same.get(found)) != null; ) found = next;
        return found;
    }

    private void compare(AbstractInsnNode handler, AbstractInsnNode after) {
        AbstractInsnNode one = handler, other = after;
        while (one != null && other != null && one != other && alike(one, other)) {
            merge(one, other);
            one = code(one.getNext());
            other = code(other.getNext());
            if (other == handler) return;
        }
    }

    /** Older compilers close a resource in two ways: if something was thrown before, what `close` throws is added to it. */
    private void closed(AbstractInsnNode stored) {
        AbstractInsnNode adds = stored;
        for (int k = 0; k < 3 && adds != null; k++) adds = code(adds.getNext());
        if (!(adds instanceof MethodInsnNode) || !((MethodInsnNode) adds).name.equals("addSuppressed")) return;
        AbstractInsnNode jump = before(stored);
        AbstractInsnNode close = jump == null ? null : before(jump);
        AbstractInsnNode way = code(adds.getNext());
        if (!(close instanceof MethodInsnNode) || way == null || way.getOpcode() != Opcodes.GOTO) return;
        AbstractInsnNode receiver = code(way.getNext());
        AbstractInsnNode other = receiver == null ? null : code(receiver.getNext());
        if (other != null && alike(close, other) && sameVariable(before(close), receiver)) merge(close, other);
    }

    private static boolean sameVariable(AbstractInsnNode one, AbstractInsnNode other) {
        return one instanceof VarInsnNode && other instanceof VarInsnNode
                && ((VarInsnNode) one).var == ((VarInsnNode) other).var;
    }

    private void merge(AbstractInsnNode one, AbstractInsnNode other) {
        AbstractInsnNode a = first(one), b = first(other);
        if (a != b) same.put(a, b);
    }

    /** Local variables may have other numbers in another copy, and jumps lead elsewhere. */
    private static boolean alike(AbstractInsnNode one, AbstractInsnNode other) {
        if (one.getOpcode() != other.getOpcode()) return false;
        if (one instanceof MethodInsnNode) {
            MethodInsnNode a = (MethodInsnNode) one, b = (MethodInsnNode) other;
            return a.owner.equals(b.owner) && a.name.equals(b.name) && a.desc.equals(b.desc);
        }
        if (one instanceof FieldInsnNode) {
            FieldInsnNode a = (FieldInsnNode) one, b = (FieldInsnNode) other;
            return a.owner.equals(b.owner) && a.name.equals(b.name);
        }
        if (one instanceof LdcInsnNode) return ((LdcInsnNode) one).cst.equals(((LdcInsnNode) other).cst);
        if (one instanceof TypeInsnNode) return ((TypeInsnNode) one).desc.equals(((TypeInsnNode) other).desc);
        if (one instanceof IntInsnNode) return ((IntInsnNode) one).operand == ((IntInsnNode) other).operand;
        if (one instanceof InvokeDynamicInsnNode) // a lambda has a body for each copy
            return ((InvokeDynamicInsnNode) one).desc.equals(((InvokeDynamicInsnNode) other).desc);
        return true;
    }

    /** From here on, the first that is an instruction of the machine. */
    static AbstractInsnNode code(AbstractInsnNode from) {
        AbstractInsnNode each = from;
        while (each != null && each.getOpcode() < 0) each = each.getNext();
        return each;
    }

    static AbstractInsnNode before(AbstractInsnNode from) {
        AbstractInsnNode each = from.getPrevious();
        while (each != null && each.getOpcode() < 0) each = each.getPrevious();
        return each;
    }
}
