package cutset.jvm.extract;

import cutset.jvm.FoundSite;
import cutset.jvm.Json;
import cutset.jvm.Names;
import cutset.jvm.SiteFinder;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodNode;

/** From class files to tables: {@code extract REQUEST.json OUT.jsonl}. A line `done total` for every hundred classes. */
public final class Extract {
    private static final int UNKNOWN_SOURCE = 3; // exit code
    private static final int SOURCE = 2, DRIVER = 1, OUTSIDE = 0; // kinds of classes

    private final Request request;
    private final Program program;
    private final Strings strings = new Strings();
    private final Mentioned mentioned = new Mentioned();
    private final Map<String, Integer> classes = new HashMap<>();
    private final List<Object> classRows = new ArrayList<>();
    private final List<Object> siteRows = new ArrayList<>();
    private final Set<String> lines = new HashSet<>(); // of source files, with code
    private int methods;

    private Extract(Request request) {
        this.request = request;
        program = new Program(request);
    }

    public static void main(String[] words) throws IOException {
        try {
            Request request = Request.read(words[0]);
            new Extract(request).write(Paths.get(words[1]));
            request.classPath.close();
        } catch (Request.Unknown unknown) {
            Map<String, Object> problem = new LinkedHashMap<>();
            problem.put("unknown", unknown.name);
            problem.put("packages", unknown.among.packages());
            StringBuilder text = new StringBuilder();
            Json.write(problem, text);
            System.out.println(text);
            System.exit(UNKNOWN_SOURCE);
        }
    }

    private void write(Path out) throws IOException {
        Set<String> names = new TreeSet<>(request.sources.keySet());
        names.addAll(request.drivers.keySet());
        progress(0, names.size());
        Statements statements = new Statements(program, names);
        Path rows = Files.createTempFile(out.toAbsolutePath().getParent(), "methods", ".jsonl");
        try {
            try (BufferedWriter writer = Files.newBufferedWriter(rows, StandardCharsets.UTF_8)) {
                int done = 0;
                for (String name : names) {
                    ClassNode type = program.type(name);
                    if (type != null) methodsOf(type, statements, writer);
                    if (++done % 100 == 0) progress(done, names.size());
                }
            }
            try (BufferedWriter writer = Files.newBufferedWriter(out, StandardCharsets.UTF_8)) {
                line(header(), writer);
            }
            try (java.io.OutputStream end = Files.newOutputStream(out, StandardOpenOption.APPEND)) {
                Files.copy(rows, end);
            }
        } finally {
            Files.deleteIfExists(rows);
        }
        progress(names.size(), names.size());
    }

    private static void progress(int done, int total) {
        System.out.println(done + " " + total);
        System.out.flush();
    }

    private void methodsOf(ClassNode type, Statements statements, Writer writer) throws IOException {
        boolean isDriver = request.drivers.containsKey(type.name);
        int number = classRow(type.name, type.superName, type.interfaces, Names.path(type), type.access,
                isDriver ? DRIVER : SOURCE);
        mentioned.type(type.name);
        Map<MethodNode, List<FoundSite>> sites = new HashMap<>();
        if (!isDriver)
            for (FoundSite each : SiteFinder.find(type, program::isAnalysed))
                sites.computeIfAbsent(each.method, method -> new ArrayList<>()).add(each);
        for (MethodNode method : type.methods) {
            method.exceptions.forEach(mentioned::exception);
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("c", number);
            row.put("n", strings.number(method.name));
            row.put("d", strings.number(method.desc));
            row.put("f", method.access);
            row.put("l", linesOf(method, Names.path(type)));
            row.put("x", strings.types(method.exceptions));
            if (method.instructions.size() > 0) {
                Code code = new Code(type, method);
                MethodRows rows = new MethodRows(program, statements, strings, mentioned, code);
                for (FoundSite site : sites.getOrDefault(method, new ArrayList<>())) {
                    rows.knowSite(site, siteRows.size());
                    siteRows.add(siteRow(site));
                }
                row.putAll(rows.read());
            }
            line(row, writer);
            methods++;
        }
    }

    private int classRow(String name, String parent, List<String> interfaces, String path, int access, int kind) {
        classes.put(name, classRows.size());
        classRows.add(Arrays.asList(
                strings.type(name), strings.type(parent), strings.types(interfaces), strings.number(path), access, kind));
        return classRows.size() - 1;
    }

    private Object siteRow(FoundSite site) {
        List<Integer> places = new ArrayList<>();
        for (AbstractInsnNode each : site.places) places.add(site.method.instructions.indexOf(each));
        List<String> declared = site.raise
                ? new ArrayList<>()
                : program.hierarchy.declared(site.calleeOwner, site.calleeName, site.calleeDescriptor);
        return Arrays.asList(methods, strings.number(site.function), strings.number(site.expression), site.ordinal,
                site.line, site.raise ? 1 : 0, places, strings.type(site.calleeOwner), strings.number(site.calleeName),
                strings.number(site.calleeDescriptor), strings.types(declared));
    }

    private List<Integer> linesOf(MethodNode method, String path) {
        int first = 0, last = 0;
        for (AbstractInsnNode each : method.instructions) {
            if (!(each instanceof LineNumberNode)) continue;
            int line = ((LineNumberNode) each).line;
            lines.add(path + ":" + line);
            first = first == 0 ? line : Math.min(first, line);
            last = Math.max(last, line);
        }
        return Arrays.asList(first, last);
    }

    private Map<String, Object> header() {
        for (String name : mentioned.withSupertypes(program.hierarchy)) {
            Hierarchy.Header header = program.hierarchy.header(name);
            if (!classes.containsKey(name))
                classRow(name, header.parent, header.interfaces, null, header.access, OUTSIDE);
        }
        Map<String, Object> header = new LinkedHashMap<>();
        header.put("format", 1);
        header.put("constructors", mentioned.constructors(program.hierarchy, strings));
        header.put("strings", strings.all());
        header.put("skipped", request.skipped);
        header.put("lines", lines.size());
        header.put("classes", classRows);
        header.put("sites", siteRows);
        return header;
    }

    private static void line(Object value, Writer writer) throws IOException {
        StringBuilder text = new StringBuilder();
        Json.write(value, text);
        writer.append(text.append('\n'));
    }
}
