package cutset.jvm.agent;

import cutset.jvm.FoundSite;
import cutset.jvm.Names;
import cutset.jvm.SiteFinder;
import cutset.jvm.agent.Plan.ArmedFault;
import cutset.jvm.agent.Plan.PlannedSite;
import java.io.File;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Puts calls of the hook into classes as they are loaded: two instructions before each place of a planned site, and at
 * the beginning of the methods of analysed files. They have no branch, so that neither frames have to be computed nor
 * other classes loaded for that.
 */
final class Weaver implements ClassFileTransformer {
    private static final String HOOK = "cutset/jvm/agent/Hook";

    private final Plan plan;

    Weaver(Plan plan) {
        this.plan = plan;
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] classFile) {
        if (name == null) return null;
        List<PlannedSite> sites = plan.byClass.get(name);
        boolean maybeAnalysed = plan.packages.contains(name.substring(0, name.lastIndexOf('/') + 1));
        if (sites == null && !maybeAnalysed && !LogPosition.isOfLogger(name)) return null;
        try {
            if (LogPosition.isOfLogger(name)) return withCountedRecords(new ClassReader(classFile));
            Woven woven = woven(name, sites, loader, redefined == null, classFile);
            for (String each : woven.problems) Record.problem(each);
            if (woven.path >= 0) {
                Contexts.add(Names.dotted(name));
                Hook.expect(woven.path, woven.lastLine);
            }
            return woven.classFile;
        } catch (Throwable error) { // whatever it is, the workload goes on
            Record.problem(Names.dotted(name) + " could not be instrumented: " + error);
            return null;
        }
    }

    private Woven woven(String name, List<PlannedSite> sites, ClassLoader loader, boolean isNew, byte[] classFile) {
        boolean hasFaults = false; // these differ from round to round
        if (sites != null) for (PlannedSite each : sites) hasFaults |= plan.faults.containsKey(each.number);
        if (plan.cache == null || hasFaults || !isNew) return weave(sites, loader, isNew, classFile);
        File place = Woven.place(plan.cache, plan, name, sites, classFile);
        Woven known = Woven.read(place);
        if (known != null) return known;
        Woven made = weave(sites, loader, true, classFile);
        made.write(place);
        return made;
    }

    private Woven weave(List<PlannedSite> sites, ClassLoader loader, boolean isNew, byte[] classFile) {
        ClassReader reader = new ClassReader(classFile);
        ClassNode type = new ClassNode();
        reader.accept(type, sites == null && !plan.functions ? ClassReader.SKIP_CODE : 0);
        int path = plan.analysed.getOrDefault(Names.path(type), -1);
        List<String> problems = new ArrayList<>();
        if (sites != null) weaveSites(type, sites, loader, isNew, problems);
        int lastLine = path >= 0 && plan.functions ? weaveFunctions(type, path) : 0;
        if (sites == null && lastLine == 0) return new Woven(path, 0, problems, null);
        ClassWriter writer = new ClassWriter(reader, 0);
        type.accept(writer);
        return new Woven(path, lastLine, problems, writer.toByteArray());
    }

    private void weaveSites(
            ClassNode type, List<PlannedSite> planned, ClassLoader loader, boolean isNew, List<String> problems) {
        Map<String, FoundSite> found = new HashMap<>();
        for (FoundSite each : SiteFinder.find(type, owner -> false))
            found.put(PlannedSite.key(each.function, each.expression, each.ordinal, each.raise), each);
        for (PlannedSite each : planned) {
            FoundSite site = found.get(each.key());
            if (site == null) {
                problems.add(each + " is not in the class that was loaded");
                continue;
            }
            ArmedFault[] faults = plan.faults.get(each.number);
            if (faults != null) Faults.found(each.number, site, loader);
            List<Object> values = faults == null || !isNew ? new ArrayList<>() : returnValues(site, faults);
            if (values.isEmpty()) weaveVisits(site, each.number);
            else bridge(type, site, each.number, values);
        }
    }

    private static void weaveVisits(FoundSite site, int number) {
        InsnList code = site.method.instructions;
        for (AbstractInsnNode place : site.places) {
            InsnList hook = new InsnList();
            hook.add(push(number));
            hook.add(callHook("visit", "(I)V"));
            // For the beginning of a method: what jumps back to its first instruction does not begin it anew.
            if (site.raise && place == firstInstruction(code)) code.insert(hook);
            else code.insertBefore(place, hook);
        }
        site.method.maxStack++;
    }

    private static void bridge(ClassNode type, FoundSite site, int number, List<Object> values) {
        MethodInsnNode called = (MethodInsnNode) site.places.get(0);
        MethodInsnNode bridge = ReturnBridge.add(type, called, number, site.line, values);
        for (AbstractInsnNode each : site.places) { // in place: other sites may be before the same instruction
            MethodInsnNode call = (MethodInsnNode) each;
            call.setOpcode(bridge.getOpcode());
            call.owner = bridge.owner;
            call.name = bridge.name;
            call.desc = bridge.desc;
            call.itf = bridge.itf;
        }
    }

    /** Of the faults of a site, the values that can be given back in place of the call. */
    private static List<Object> returnValues(FoundSite site, ArmedFault[] faults) {
        List<Object> values = new ArrayList<>();
        for (ArmedFault each : faults) {
            if (site.raise || !each.effect.isReturn()) continue;
            Object value = each.effect.value();
            if (!ReturnBridge.isPossible((MethodInsnNode) site.places.get(0), value)) continue;
            values.add(value);
            each.effect.returns = values.size();
        }
        return values;
    }

    /** The last of the first lines of its functions. */
    private static int weaveFunctions(ClassNode type, int path) {
        int last = 0;
        for (MethodNode each : type.methods) {
            int line = firstLine(each);
            if (line == 0) continue; // abstract, or made by a compiler
            InsnList hook = new InsnList();
            hook.add(push(path));
            hook.add(push(line));
            hook.add(callHook("ran", "(II)V"));
            each.instructions.insert(hook);
            each.maxStack = Math.max(2, each.maxStack);
            last = Math.max(last, line);
        }
        return last;
    }

    private static int firstLine(MethodNode method) {
        int line = 0;
        for (AbstractInsnNode each : method.instructions)
            if (each instanceof LineNumberNode) {
                int own = ((LineNumberNode) each).line;
                line = line == 0 ? own : Math.min(line, own);
            }
        return line;
    }

    private static AbstractInsnNode firstInstruction(InsnList code) {
        AbstractInsnNode first = code.getFirst();
        while (first != null && first.getOpcode() < 0) first = first.getNext();
        return first;
    }

    private static byte[] withCountedRecords(ClassReader reader) {
        ClassWriter writer = new ClassWriter(reader, 0);
        String type = reader.getClassName();
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String desc, String signature, String[] thrown) {
                        MethodVisitor method = super.visitMethod(access, name, desc, signature, thrown);
                        return LogPosition.isSink(type, name, desc) ? new CountedRecords(method) : method;
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static final class CountedRecords extends MethodVisitor {
        CountedRecords(MethodVisitor method) {
            super(Opcodes.ASM9, method);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOK, "logged", "()V", false);
        }
    }

    static MethodInsnNode callHook(String name, String descriptor) {
        return new MethodInsnNode(Opcodes.INVOKESTATIC, HOOK, name, descriptor, false);
    }

    static AbstractInsnNode push(int number) {
        if (number >= -1 && number <= 5) return new InsnNode(Opcodes.ICONST_0 + number);
        if (number == (byte) number) return new IntInsnNode(Opcodes.BIPUSH, number);
        return number == (short) number ? new IntInsnNode(Opcodes.SIPUSH, number) : new LdcInsnNode(number);
    }
}
