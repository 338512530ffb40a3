package cutset.jvm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Which instructions are copies of the same source code. Compilers copy the code of a `finally` (and what closes the
 * resources of a `try`) to each way out of the `try`. One copy is the handler's; the others are in the gaps between
 * the ranges that this handler protects, and there they are found by reading the same.
 */
final class Copies {
    private static final String THROWABLE = "java/lang/Throwable";
    private final Map<AbstractInsnNode, AbstractInsnNode> same = new IdentityHashMap<>();
    private final InsnList code;

    private Copies(InsnList code) {
        this.code = code;
    }

    static Copies of(MethodNode method) {
        Copies copies = new Copies(method.instructions);
        Map<LabelNode, List<TryCatchBlockNode>> ranges = new IdentityHashMap<>();
        for (TryCatchBlockNode each : method.tryCatchBlocks)
            if (each.type == null || each.type.equals(THROWABLE))
                ranges.computeIfAbsent(each.handler, handler -> new ArrayList<>()).add(each);
        ranges.forEach(copies::find);
        return copies;
    }

    /** The same instruction for all copies of one. */
    AbstractInsnNode first(AbstractInsnNode each) {
        AbstractInsnNode found = each;
        for (AbstractInsnNode next; (next = same.get(found)) != null; ) found = next;
        return found;
    }

    private void find(LabelNode handler, List<TryCatchBlockNode> ranges) {
        AbstractInsnNode stored = code(handler);
        if (stored == null || stored.getOpcode() != Opcodes.ASTORE) return;
        boolean closesResource = ranges.get(0).type != null;
        if (closesResource) mergeBothWaysToClose(stored);
        List<AbstractInsnNode> pattern = finalCode(stored, closesResource);
        if (pattern.isEmpty()) return;
        int end = code.indexOf(handler);
        for (TryCatchBlockNode range : ranges) {
            AbstractInsnNode each = code(range.end);
            while (each != null && code.indexOf(each) < end && !isProtected(each, ranges)) {
                AbstractInsnNode after = matched(pattern, each, !closesResource);
                each = after != null ? after : code(each.getNext());
            }
        }
    }

    private boolean isProtected(AbstractInsnNode each, List<TryCatchBlockNode> ranges) {
        int at = code.indexOf(each);
        for (TryCatchBlockNode range : ranges)
            if (code.indexOf(range.start) <= at && at < code.indexOf(range.end)) return true;
        return false;
    }

    /** The handler's code, up to where it throws on what it caught; of a resource's, up to its `close`. */
    private static List<AbstractInsnNode> finalCode(AbstractInsnNode stored, boolean closesResource) {
        List<AbstractInsnNode> found = new ArrayList<>();
        for (AbstractInsnNode each = code(stored.getNext()); each != null; each = code(each.getNext())) {
            boolean isLeaving = each.getOpcode() == Opcodes.ATHROW
                    || each.getOpcode() >= Opcodes.IRETURN && each.getOpcode() <= Opcodes.RETURN;
            if (isLeaving && before(each) == stored) break; // a handler that does nothing
            if (isLeaving && sameVariable(before(each), stored)) return found.subList(0, found.size() - 1);
            found.add(each);
            if (closesResource && isCall(each, "close")) return found;
            if (closesResource && isLeaving) break;
        }
        return new ArrayList<>();
    }

    /** If the code from here on reads as the pattern: the two are merged, and what comes after is returned. */
    private AbstractInsnNode matched(List<AbstractInsnNode> pattern, AbstractInsnNode from, boolean onSameLines) {
        List<AbstractInsnNode> found = new ArrayList<>();
        Map<Integer, Integer> renamed = new HashMap<>(); // variables of the copied code itself
        AbstractInsnNode each = from;
        for (AbstractInsnNode expected : pattern) {
            if (each == null || !alike(expected, each, renamed)) return null;
            if (onSameLines && each instanceof MethodInsnNode && line(each) != line(expected)) return null;
            found.add(each);
            each = code(each.getNext());
        }
        for (int k = 0; k < found.size(); k++) merge(pattern.get(k), found.get(k));
        return each == null ? code.getLast() : each;
    }

    /** Older compilers close a resource in two ways: if something was thrown before, what `close` throws is added to it. */
    private void mergeBothWaysToClose(AbstractInsnNode stored) {
        AbstractInsnNode adds = stored;
        for (int k = 0; k < 3 && adds != null; k++) adds = code(adds.getNext());
        if (adds == null || !isCall(adds, "addSuppressed")) return;
        AbstractInsnNode jump = before(stored);
        AbstractInsnNode close = jump == null ? null : before(jump);
        AbstractInsnNode way = code(adds.getNext());
        if (close == null || !isCall(close, "close") || way == null || way.getOpcode() != Opcodes.GOTO) return;
        AbstractInsnNode receiver = code(way.getNext());
        AbstractInsnNode other = receiver == null ? null : code(receiver.getNext());
        if (other != null && alike(close, other, new HashMap<>()) && sameVariable(before(close), receiver))
            merge(close, other);
    }

    private void merge(AbstractInsnNode one, AbstractInsnNode other) {
        AbstractInsnNode a = first(one), b = first(other);
        if (a != b) same.put(a, b);
    }

    private static boolean alike(AbstractInsnNode one, AbstractInsnNode other, Map<Integer, Integer> renamed) {
        if (one.getOpcode() != other.getOpcode()) return false;
        if (one instanceof MethodInsnNode) {
            MethodInsnNode a = (MethodInsnNode) one, b = (MethodInsnNode) other;
            return a.owner.equals(b.owner) && a.name.equals(b.name) && a.desc.equals(b.desc);
        }
        if (one instanceof FieldInsnNode) {
            FieldInsnNode a = (FieldInsnNode) one, b = (FieldInsnNode) other;
            return a.owner.equals(b.owner) && a.name.equals(b.name);
        }
        if (one instanceof VarInsnNode) {
            int a = ((VarInsnNode) one).var, b = ((VarInsnNode) other).var;
            if (one.getOpcode() >= Opcodes.ISTORE) renamed.putIfAbsent(a, b);
            return renamed.getOrDefault(a, a) == b;
        }
        if (one instanceof IincInsnNode) {
            int a = ((IincInsnNode) one).var;
            return renamed.getOrDefault(a, a) == ((IincInsnNode) other).var;
        }
        if (one instanceof LdcInsnNode) return ((LdcInsnNode) one).cst.equals(((LdcInsnNode) other).cst);
        if (one instanceof TypeInsnNode) return ((TypeInsnNode) one).desc.equals(((TypeInsnNode) other).desc);
        if (one instanceof IntInsnNode) return ((IntInsnNode) one).operand == ((IntInsnNode) other).operand;
        if (one instanceof InvokeDynamicInsnNode) // a lambda has a body for each copy
            return ((InvokeDynamicInsnNode) one).desc.equals(((InvokeDynamicInsnNode) other).desc);
        return true; // jumps lead elsewhere
    }

    private static boolean isCall(AbstractInsnNode each, String name) {
        return each instanceof MethodInsnNode && ((MethodInsnNode) each).name.equals(name);
    }

    private static boolean sameVariable(AbstractInsnNode one, AbstractInsnNode other) {
        return one instanceof VarInsnNode
                && other instanceof VarInsnNode
                && ((VarInsnNode) one).var == ((VarInsnNode) other).var;
    }

    private static int line(AbstractInsnNode of) {
        AbstractInsnNode each = of;
        while (each != null && !(each instanceof LineNumberNode)) each = each.getPrevious();
        return each == null ? 0 : ((LineNumberNode) each).line;
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
