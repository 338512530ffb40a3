package cutset.jvm.extract;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Supertypes of classes, and what their methods declare to throw: of the class path, and of the running JVM's own. */
final class Hierarchy {
    static final class Header {
        String parent;
        List<String> interfaces = Collections.emptyList();
        int access;
        final Map<String, List<String>> declared = new HashMap<>(); // by name and descriptor
        final List<String> constructors = new ArrayList<>(); // their descriptors
    }

    private final ClassPath classPath;
    private final Map<String, Header> headers = new HashMap<>();
    private final Map<String, List<String>> known = new HashMap<>();

    Hierarchy(ClassPath classPath) {
        this.classPath = classPath;
    }

    /** Null if there is no such class. */
    Header header(String name) {
        if (headers.containsKey(name)) return headers.get(name);
        Header header = null;
        try {
            byte[] bytes = name.startsWith("[") ? null : classPath.read(name);
            if (bytes != null) header = parse(bytes);
        } catch (IOException | RuntimeException unreadable) {
            header = null; // as if it were not there: a source that is broken is told about elsewhere
        }
        headers.put(name, header);
        return header;
    }

    /** What a method declares to throw, of its class or the nearest supertype that has it. */
    List<String> declared(String owner, String name, String descriptor) {
        return known.computeIfAbsent(owner + "." + name + descriptor, key -> {
            for (String each : withSupertypes(owner)) {
                List<String> found = header(each).declared.get(name + descriptor);
                if (found != null) return found;
                if (name.equals("<init>")) break;
            }
            return Collections.emptyList();
        });
    }

    /** Itself, parents and interfaces, nearest first, as far as they can be found. */
    List<String> withSupertypes(String name) {
        Map<String, Boolean> found = new LinkedHashMap<>();
        Deque<String> todo = new ArrayDeque<>();
        todo.add(name);
        while (!todo.isEmpty()) {
            String each = todo.poll();
            Header header = header(each);
            if (header == null || found.put(each, true) != null) continue;
            if (header.parent != null) todo.add(header.parent);
            todo.addAll(header.interfaces);
        }
        return new ArrayList<>(found.keySet());
    }

    private static Header parse(byte[] bytes) {
        Header header = new Header();
        new ClassReader(bytes).accept(
                new ClassVisitor(Opcodes.ASM9) {
                    @Override
                    public void visit(int version, int access, String name, String sig, String parent, String[] all) {
                        header.access = access;
                        header.parent = parent;
                        if (all != null) header.interfaces = Arrays.asList(all);
                    }

                    @Override
                    public MethodVisitor visitMethod(int access, String name, String desc, String sig, String[] thrown) {
                        List<String> exceptions = thrown == null ? Collections.emptyList() : Arrays.asList(thrown);
                        header.declared.put(name + desc, exceptions);
                        if (name.equals("<init>")) header.constructors.add(desc);
                        return null;
                    }
                },
                ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return header;
    }
}
