package cutset.jvm.extract;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** The classes that are analysed, parsed when they are asked for, and what is known of the others. */
final class Program {
    private static final int KEPT = 64; // parsed classes: what looks at another one looks at a neighbour

    final Hierarchy hierarchy;
    private final Map<String, ClassPath.Content> contents = new HashMap<>();
    private final Set<String> unreadable = new HashSet<>();
    private final List<List<String>> skipped;
    private final Map<String, ClassNode> parsed = new LinkedHashMap<String, ClassNode>(KEPT, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, ClassNode> eldest) {
            return size() > KEPT;
        }
    };

    Program(Request request) {
        hierarchy = new Hierarchy(request.classPath);
        skipped = request.skipped;
        contents.putAll(request.sources);
        contents.putAll(request.drivers);
    }

    boolean isAnalysed(String type) {
        return contents.containsKey(type);
    }

    /** Null if it is not analysed, or cannot be read: that is told. */
    ClassNode type(String name) {
        ClassPath.Content content = contents.get(name);
        if (content == null || unreadable.contains(name)) return null;
        return parsed.computeIfAbsent(name, missing -> parse(name, content));
    }

    /** Null if there is none, or it has no code. */
    Code code(String owner, String name, String descriptor) {
        ClassNode type = type(owner);
        if (type == null) return null;
        for (MethodNode each : type.methods)
            if (each.name.equals(name) && each.desc.equals(descriptor) && each.instructions.size() > 0)
                return new Code(type, each);
        return null;
    }

    private ClassNode parse(String name, ClassPath.Content content) {
        try {
            ClassNode type = new ClassNode();
            new ClassReader(content.read()).accept(type, ClassReader.SKIP_FRAMES);
            return type;
        } catch (IOException | RuntimeException broken) {
            String reason = broken.getMessage() == null ? "not a class file" : broken.getMessage();
            skipped.add(Arrays.asList(name + ".class", reason));
            unreadable.add(name);
            return null;
        }
    }
}
