package cutset.jvm.extract;

import cutset.jvm.FoundSite;
import cutset.jvm.Harmless;
import cutset.jvm.Names;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * The code around a site as words, by which it is found again in another version: calls, fields, classes and texts.
 * The site is marked among them. What depends on the compiler, as how it concatenates texts or numbers lambdas, is left
 * out.
 */
final class Around {
    private static final int WORDS = 8; // before, and after
    private static final String ITSELF = "=> ";

    private Around() {}

    static List<String> of(FoundSite site, String type) {
        AbstractInsnNode statement = site.statements.get(0);
        List<String> before = new ArrayList<>(), after = new ArrayList<>();
        AbstractInsnNode each = statement.getPrevious();
        for (; each != null && before.size() < WORDS; each = each.getPrevious()) {
            List<String> words = words(each, type);
            for (int k = words.size() - 1; k >= 0; k--) before.add(0, words.get(k));
        }
        for (each = statement.getNext(); each != null && after.size() < WORDS; each = each.getNext())
            after.addAll(words(each, type));
        before.add(ITSELF + site.expression);
        before.addAll(after);
        return before;
    }

    private static List<String> words(AbstractInsnNode each, String type) {
        List<String> found = new ArrayList<>();
        if (each instanceof MethodInsnNode) {
            MethodInsnNode call = (MethodInsnNode) each;
            boolean isCompilers = call.name.startsWith("access$")
                    || call.owner.startsWith("java/lang/") && Harmless.is(call.owner, call.name);
            if (!isCompilers) found.add(member(call.owner, call.name, type));
        } else if (each instanceof FieldInsnNode) {
            found.add(member(((FieldInsnNode) each).owner, ((FieldInsnNode) each).name, type));
        } else if (each instanceof TypeInsnNode) {
            String named = ((TypeInsnNode) each).desc;
            if (!named.startsWith("java/lang/")) found.add(Names.simple(named));
        } else if (each instanceof LdcInsnNode && ((LdcInsnNode) each).cst instanceof String) {
            addText((String) ((LdcInsnNode) each).cst, found);
        } else if (each instanceof InvokeDynamicInsnNode) {
            InvokeDynamicInsnNode made = (InvokeDynamicInsnNode) each;
            if (made.name.equals("makeConcatWithConstants"))
                for (String part : ((String) made.bsmArgs[0]).split("[\u0001\u0002]")) addText(part, found);
        }
        return found;
    }

    /** Of its own class whatever that is called: it may be renamed. */
    private static String member(String owner, String name, String type) {
        return owner.equals(type) ? "this." + name : Names.expression(owner, name);
    }

    private static void addText(String text, List<String> to) {
        String stripped = text.trim();
        if (!stripped.isEmpty()) to.add('"' + stripped + '"');
    }
}
