package cutset.jvm;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * The sites of a class, for the extractor and for the agent, so that they cannot disagree. The name of a site depends
 * on its class alone: ordinals count all calls that read alike, whoever is called.
 */
public final class SiteFinder {
    private SiteFinder() {}

    /** In order of methods, then of lines, then of code. {@code analysed} is asked for names as {@code org/a/Foo}. */
    public static List<FoundSite> find(ClassNode type, Predicate<String> analysed) {
        List<FoundSite> found = new ArrayList<>();
        Map<String, Integer> ordinals = new HashMap<>(); // also across methods, should two have the same name
        for (MethodNode method : type.methods) {
            if (method.instructions.size() == 0 || Names.isBridge(method)) continue;
            String function = Names.function(type, method);
            for (Candidate each : candidates(method)) {
                int ordinal = ordinals.merge(function + "::" + each.expression, 1, Integer::sum) - 1;
                if (!each.raise && (analysed.test(each.owner) || Harmless.is(each.owner, each.name))) continue;
                List<AbstractInsnNode> places = each.raise ? decidingAbout(each.statements, method) : each.statements;
                found.add(new FoundSite(
                        function, each.expression, ordinal, each.line, method, places, each.statements, each));
            }
        }
        return found;
    }

    static final class Candidate {
        final String owner, name, descriptor, expression;
        final boolean raise;
        final List<AbstractInsnNode> statements = new ArrayList<>();
        int line;

        Candidate(String owner, String name, String descriptor, boolean raise, int line) {
            this.owner = owner;
            this.name = name;
            this.descriptor = descriptor;
            this.raise = raise;
            this.line = line;
            expression = raise ? "throw " + Names.simple(owner) : Names.expression(owner, name);
        }
    }

    /** Calls, and throws of new exceptions, with their copies. */
    private static List<Candidate> candidates(MethodNode method) {
        Copies copies = method.tryCatchBlocks.isEmpty() ? null : Copies.of(method);
        Map<AbstractInsnNode, Candidate> found = new LinkedHashMap<>();
        int line = 0;
        for (AbstractInsnNode each : method.instructions) {
            if (each instanceof LineNumberNode) line = ((LineNumberNode) each).line;
            Candidate made = candidate(each, line);
            if (made == null) continue;
            Candidate known = found.computeIfAbsent(copies == null ? each : copies.first(each), first -> made);
            known.statements.add(each);
            known.line = Math.min(known.line, line);
        }
        List<Candidate> inOrder = new ArrayList<>(found.values());
        inOrder.sort(Comparator.comparingInt(each -> each.line)); // stable: then in order of the code
        return inOrder;
    }

    private static Candidate candidate(AbstractInsnNode each, int line) {
        if (each instanceof MethodInsnNode) {
            MethodInsnNode call = (MethodInsnNode) each;
            return new Candidate(call.owner, call.name, call.desc, false, line);
        }
        if (each.getOpcode() != Opcodes.ATHROW) return null;
        MethodInsnNode made = making(each);
        return made == null ? null : new Candidate(made.owner, made.name, made.desc, true, line);
    }

    /** The constructor's call that made what is thrown, right before or by way of a local variable; or null. */
    private static MethodInsnNode making(AbstractInsnNode thrown) {
        AbstractInsnNode value = Copies.before(thrown);
        if (value instanceof VarInsnNode) {
            int variable = ((VarInsnNode) value).var;
            do value = value.getPrevious();
            while (value != null && !(value.getOpcode() == Opcodes.ASTORE && ((VarInsnNode) value).var == variable));
            if (value == null) return null;
            value = Copies.before(value);
        }
        boolean isConstructor = value instanceof MethodInsnNode && ((MethodInsnNode) value).name.equals("<init>");
        return isConstructor ? (MethodInsnNode) value : null;
    }

    /**
     * Where to throw instead of deciding: at the nearest condition; for what a handler alone leads to, where its `try`
     * begins; else at the beginning of the method.
     */
    private static List<AbstractInsnNode> decidingAbout(List<AbstractInsnNode> thrown, MethodNode method) {
        Flow flow = new Flow(method);
        List<List<Integer>> handlers = flow.handlersTo();
        Map<AbstractInsnNode, Boolean> found = new IdentityHashMap<>();
        List<AbstractInsnNode> places = new ArrayList<>();
        for (AbstractInsnNode each : thrown) {
            AbstractInsnNode place = decidingAbout(each, flow, handlers, method);
            if (found.put(place, true) == null) places.add(place);
        }
        return places;
    }

    private static AbstractInsnNode decidingAbout(
            AbstractInsnNode thrown, Flow flow, List<List<Integer>> handlers, MethodNode method) {
        int at = flow.index(thrown);
        int block = flow.block[at];
        int nearest = -1;
        for (int each : flow.controlling()[block]) {
            int condition = flow.end(each) - 1;
            if (nearest < 0 || condition < at || nearest > at) nearest = condition; // they come in order
        }
        if (nearest >= 0) return flow.instructions[nearest];
        if (!handlers.get(block).isEmpty())
            for (TryCatchBlockNode each : method.tryCatchBlocks)
                if (flow.block[flow.index(each.handler)] == handlers.get(block).get(0)) return Copies.code(each.start);
        return Copies.code(method.instructions.getFirst());
    }
}
