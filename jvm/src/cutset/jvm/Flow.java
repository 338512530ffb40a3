package cutset.jvm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * Basic blocks of a method, and which of them decide about which (control dependence, by Ferrante, Ottenstein and
 * Warren, with post-dominators as Cooper, Harvey and Kennedy find them). Edges of exceptions are not among the
 * successors: what only a handler leads to is told by {@link #handlersTo}.
 */
public final class Flow {
    public final AbstractInsnNode[] instructions;
    public final int[] line; // by instruction; 0 if the class file does not tell
    public final int[] block; // by instruction
    public final int[] begin; // by block, its first instruction
    public final int[][] successors;
    private final InsnList list;
    private final List<Integer> handlers = new ArrayList<>(); // blocks
    private int[][] controlling;

    public Flow(MethodNode method) {
        list = method.instructions;
        instructions = list.toArray();
        int size = instructions.length;
        line = new int[size];
        for (int i = 0, at = 0; i < size; i++) {
            if (instructions[i] instanceof LineNumberNode) at = ((LineNumberNode) instructions[i]).line;
            line[i] = at;
        }
        block = new int[size];
        begin = blocks(method, size);
        successors = new int[begin.length][];
        for (int b = 0; b < begin.length; b++) successors[b] = successorsOf(b);
        BitSet known = new BitSet();
        for (TryCatchBlockNode each : method.tryCatchBlocks) {
            int handler = block[index(each.handler)];
            if (!known.get(handler)) handlers.add(handler);
            known.set(handler);
        }
    }

    public int index(AbstractInsnNode instruction) {
        return list.indexOf(instruction);
    }

    /** One after the last instruction of a block. */
    public int end(int which) {
        return which + 1 < begin.length ? begin[which + 1] : instructions.length;
    }

    /** By block, those at whose end it is decided whether it runs. */
    public int[][] controlling() {
        if (controlling == null) controlling = controlDependence();
        return controlling;
    }

    /** By block, the handlers it is reached from, if it is reached in no other way. */
    public List<List<Integer>> handlersTo() {
        List<List<Integer>> found = new ArrayList<>();
        for (int b = 0; b < begin.length; b++) found.add(new ArrayList<>());
        BitSet plain = reached(0);
        for (int handler : handlers) {
            BitSet from = reached(handler);
            from.andNot(plain);
            for (int b = from.nextSetBit(0); b >= 0; b = from.nextSetBit(b + 1)) found.get(b).add(handler);
        }
        return found;
    }

    private int[] blocks(MethodNode method, int size) {
        BitSet first = new BitSet(size);
        if (size > 0) first.set(0);
        for (int i = 0; i < size; i++) {
            for (LabelNode target : targets(instructions[i])) first.set(index(target));
            if (isLast(instructions[i]) && i + 1 < size) first.set(i + 1);
        }
        for (TryCatchBlockNode each : method.tryCatchBlocks) {
            first.set(index(each.handler));
            first.set(index(each.start));
            first.set(index(each.end));
        }
        int[] starts = first.stream().toArray();
        for (int b = 0; b < starts.length; b++)
            Arrays.fill(block, starts[b], b + 1 < starts.length ? starts[b + 1] : size, b);
        return starts;
    }

    private int[] successorsOf(int which) {
        AbstractInsnNode last = instructions[end(which) - 1];
        BitSet found = new BitSet();
        for (LabelNode target : targets(last)) found.set(block[index(target)]);
        boolean goesOn = !isLast(last) || last instanceof JumpInsnNode && last.getOpcode() != Opcodes.GOTO;
        if (goesOn && which + 1 < begin.length) found.set(which + 1);
        return found.stream().toArray();
    }

    private static List<LabelNode> targets(AbstractInsnNode each) {
        if (each instanceof JumpInsnNode) return Collections.singletonList(((JumpInsnNode) each).label);
        List<LabelNode> found;
        if (each instanceof TableSwitchInsnNode) {
            found = new ArrayList<>(((TableSwitchInsnNode) each).labels);
            found.add(((TableSwitchInsnNode) each).dflt);
        } else if (each instanceof LookupSwitchInsnNode) {
            found = new ArrayList<>(((LookupSwitchInsnNode) each).labels);
            found.add(((LookupSwitchInsnNode) each).dflt);
        } else {
            found = Collections.emptyList();
        }
        return found;
    }

    /** Whether a block ends with this instruction. */
    private static boolean isLast(AbstractInsnNode each) {
        int opcode = each.getOpcode();
        return isCondition(each)
                || opcode == Opcodes.GOTO
                || opcode == Opcodes.JSR
                || opcode == Opcodes.RET
                || opcode == Opcodes.ATHROW
                || opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN;
    }

    /** Whether it goes on at one of several places. */
    public static boolean isCondition(AbstractInsnNode each) {
        int opcode = each.getOpcode();
        return each instanceof JumpInsnNode && opcode != Opcodes.GOTO && opcode != Opcodes.JSR
                || opcode == Opcodes.TABLESWITCH
                || opcode == Opcodes.LOOKUPSWITCH;
    }

    private BitSet reached(int from) {
        BitSet found = new BitSet();
        Deque<Integer> todo = new ArrayDeque<>();
        if (begin.length > 0) todo.add(from);
        while (!todo.isEmpty()) {
            int each = todo.poll();
            if (found.get(each)) continue;
            found.set(each);
            for (int next : successors[each]) todo.add(next);
        }
        return found;
    }

    private int[][] controlDependence() {
        int count = begin.length;
        int[] next = immediatePostDominators();
        List<BitSet> found = new ArrayList<>();
        for (int b = 0; b < count; b++) found.add(new BitSet());
        for (int from = 0; from < count; from++) {
            if (successors[from].length < 2) continue;
            for (int to : successors[from])
                for (int each = to; each != count && each != next[from]; each = next[each])
                    if (each != from) found.get(each).set(from);
        }
        int[][] result = new int[count][];
        for (int b = 0; b < count; b++) result[b] = found.get(b).stream().toArray();
        return result;
    }

    /** By block; the number of blocks stands for the end of the method, where endless loops lead to, too. */
    private int[] immediatePostDominators() {
        int exit = begin.length;
        List<List<Integer>> before = new ArrayList<>();
        for (int b = 0; b <= exit; b++) before.add(new ArrayList<>());
        for (int b = 0; b < exit; b++) {
            if (successors[b].length == 0) before.get(exit).add(b);
            for (int to : successors[b]) before.get(to).add(b);
        }
        int[] order = new int[exit + 1]; // of a depth-first walk against the edges, by when it leaves a block
        Arrays.fill(order, -1);
        List<Integer> leaving = new ArrayList<>();
        BitSet endless = new BitSet();
        walk(exit, before, order, leaving, new BitSet());
        for (int b = exit - 1; b >= 0; b--)
            if (order[b] < 0) { // the end of a loop that never ends
                endless.set(b);
                before.get(exit).add(b);
                Arrays.fill(order, -1);
                leaving.clear();
                walk(exit, before, order, leaving, new BitSet());
            }
        int[] next = new int[exit + 1];
        Arrays.fill(next, -1);
        next[exit] = exit;
        for (boolean changed = true; changed; ) {
            changed = false;
            for (int k = leaving.size() - 2; k >= 0; k--) {
                int each = leaving.get(k);
                int found = endless.get(each) || successors[each].length == 0 ? exit : -1;
                for (int to : successors[each]) {
                    if (next[to] < 0) continue;
                    int other = to;
                    if (found < 0) found = to;
                    while (found != other)
                        if (order[found] < order[other]) found = next[found];
                        else other = next[other];
                }
                if (next[each] != found) {
                    next[each] = found;
                    changed = true;
                }
            }
        }
        return next;
    }

    private static void walk(int from, List<List<Integer>> before, int[] order, List<Integer> leaving, BitSet seen) {
        Deque<int[]> path = new ArrayDeque<>();
        path.push(new int[] {from, 0});
        seen.set(from);
        while (!path.isEmpty()) {
            int[] top = path.peek();
            List<Integer> ways = before.get(top[0]);
            if (top[1] == ways.size()) {
                order[top[0]] = leaving.size();
                leaving.add(top[0]);
                path.pop();
            } else {
                int to = ways.get(top[1]++);
                if (!seen.get(to)) {
                    seen.set(to);
                    path.push(new int[] {to, 0});
                }
            }
        }
    }
}
