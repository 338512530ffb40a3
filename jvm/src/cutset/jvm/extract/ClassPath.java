package cutset.jvm.extract;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;

/** Class files in folders and jars, in jars inside of jars, and of the JVM that runs this; found by name. */
final class ClassPath implements Closeable {
    private static final String[] CLASSES_INSIDE = {"BOOT-INF/classes/", "WEB-INF/classes/"};
    private static final String[] JARS_INSIDE = {"BOOT-INF/lib/", "WEB-INF/lib/"};
    private static final String VERSIONS = "META-INF/versions/";

    private static final int MOST_FOLDERS = 5000; // looked into for names of packages: it may be anybody's home

    /** Where the bytes of a class are. */
    interface Content {
        byte[] read() throws IOException;
    }

    private final List<Entry> entries = new ArrayList<>();
    private final List<Closeable> open = new ArrayList<>();
    private final List<List<String>> skipped;
    private final Set<String> seen = new HashSet<>();

    /** Of a class path: a jar with its classes, or a folder, which is looked into only where something is asked for. */
    private static final class Entry {
        final File file;
        final Map<String, Content> classes = new HashMap<>(); // of jars, by name as in the class file
        final boolean isFolder;

        Entry(File file) {
            this.file = file;
            isFolder = file.isDirectory();
        }

        Content find(String name) {
            if (!isFolder) return classes.get(name);
            File found = new File(file, name + ".class");
            return found.isFile() ? () -> Files.readAllBytes(found.toPath()) : null;
        }

        /** The classes of a package, of what is below it, and of a class with that name; "": all. */
        Map<String, Content> within(String path) throws IOException {
            Map<String, Content> found = new HashMap<>();
            if (!isFolder) {
                for (Map.Entry<String, Content> each : classes.entrySet())
                    if (isWithin(each.getKey(), path)) found.put(each.getKey(), each.getValue());
                return found;
            }
            Path root = file.toPath().toRealPath();
            File top = root.resolve(path).toFile();
            if (top.isDirectory()) addFolder(root, top, found);
            File[] beside = path.isEmpty() ? null : top.getParentFile().listFiles();
            if (beside == null) return found;
            for (File each : beside)
                if (isClass(each.getName()) && isWithin(nameOf(root, each.toPath()), path))
                    found.put(nameOf(root, each.toPath()), () -> Files.readAllBytes(each.toPath()));
            return found;
        }

        private static boolean isWithin(String name, String path) {
            return path.isEmpty()
                    || name.startsWith(path)
                            && (name.length() == path.length() || "/$".indexOf(name.charAt(path.length())) >= 0);
        }

        private static void addFolder(Path root, File top, Map<String, Content> found) throws IOException {
            Files.walkFileTree(top.toPath(), new SimpleFileVisitor<Path>() {
                @Override
                public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
                    if (isClass(path.getFileName().toString()))
                        found.put(nameOf(root, path), () -> Files.readAllBytes(path));
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path path, IOException unreadable) {
                    return FileVisitResult.CONTINUE;
                }
            });
        }

        private static String nameOf(Path root, Path path) {
            return without(root.relativize(path).toString().replace(File.separatorChar, '/'));
        }
    }

    ClassPath(List<String> names, List<List<String>> skipped) {
        this.skipped = skipped;
        for (String name : names) add(name);
    }

    byte[] read(String name) throws IOException {
        for (Entry entry : entries) {
            Content content = entry.find(name);
            if (content != null) return content.read();
        }
        try (InputStream stream = ClassLoader.getSystemResourceAsStream(name + ".class")) {
            return stream == null ? null : all(stream);
        }
    }

    /** The classes of a jar or folder; those of jars inside it are not among them. */
    Map<String, Content> classesOf(String name) throws IOException {
        add(name);
        File file = new File(name).getAbsoluteFile();
        for (Entry entry : entries) if (entry.file.equals(file)) return entry.within("");
        return Collections.emptyMap();
    }

    /** The classes of a package and of what is below it, or a class and those nested in it. */
    Map<String, Content> named(String dotted) throws IOException {
        Map<String, Content> found = new HashMap<>();
        for (Entry entry : entries) entry.within(dotted.replace('.', '/')).forEach(found::putIfAbsent);
        return found;
    }

    Set<String> packages() {
        Set<String> found = new TreeSet<>();
        for (Entry entry : entries) {
            if (entry.isFolder) addPackages(entry.file, "", found);
            for (String name : entry.classes.keySet())
                for (int end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1))
                    if (!found.add(name.substring(0, end).replace('/', '.'))) break;
        }
        return found;
    }

    private static void addPackages(File folder, String name, Set<String> found) {
        File[] inside = folder.listFiles(File::isDirectory);
        if (inside == null) return;
        for (File each : inside) {
            if (found.size() >= MOST_FOLDERS) return;
            String inner = name.isEmpty() ? each.getName() : name + "." + each.getName();
            if (Files.isSymbolicLink(each.toPath()) || !found.add(inner)) continue;
            addPackages(each, inner, found);
        }
    }

    @Override
    public void close() throws IOException {
        for (Closeable each : open) each.close();
    }

    private void add(String name) {
        File file = new File(name).getAbsoluteFile();
        if (!seen.add(file.getPath())) return;
        if (file.getName().equals("*")) {
            File[] jars = file.getParentFile().listFiles((folder, each) -> each.toLowerCase().endsWith(".jar"));
            if (jars == null) return;
            Arrays.sort(jars);
            for (File jar : jars) add(jar.getPath());
        } else if (file.exists()) {
            Entry entry = new Entry(file);
            entries.add(entry);
            if (entry.isFolder) return;
            try {
                addJar(file, entry.classes);
            } catch (IOException error) {
                skipped.add(Arrays.asList(file.getPath(), "cannot be read as a jar: " + error.getMessage()));
            }
        }
    }

    private void addJar(File file, Map<String, Content> classes) throws IOException {
        ZipFile jar = new ZipFile(file);
        open.add(jar);
        Manifest manifest = manifest(jar);
        boolean hasVersions =
                manifest != null && "true".equalsIgnoreCase(manifest.getMainAttributes().getValue("Multi-Release"));
        Map<String, Integer> versions = new HashMap<>();
        List<ZipEntry> inside = new ArrayList<>();
        for (Enumeration<? extends ZipEntry> all = jar.entries(); all.hasMoreElements(); ) {
            ZipEntry each = all.nextElement();
            String name = each.getName();
            if (name.endsWith(".jar") && beginning(name, JARS_INSIDE) != null) inside.add(each);
            int version = 0;
            if (hasVersions && name.startsWith(VERSIONS)) {
                String[] parts = name.substring(VERSIONS.length()).split("/", 2);
                if (parts.length < 2 || !parts[0].matches("\\d{1,4}")) continue;
                version = Integer.parseInt(parts[0]);
                name = parts[1];
            }
            String prefix = beginning(name, CLASSES_INSIDE);
            if (prefix != null) name = name.substring(prefix.length());
            if (!isClass(name) || name.startsWith("META-INF/") || version > ownVersion()) continue;
            if (versions.getOrDefault(name, -1) > version) continue;
            versions.put(name, version);
            classes.put(without(name), () -> {
                try (InputStream stream = jar.getInputStream(each)) {
                    return all(stream);
                }
            });
        }
        for (ZipEntry each : inside) addJarInside(jar, each, file);
        if (manifest != null) addNamedBy(manifest, file);
    }

    private static Manifest manifest(ZipFile jar) throws IOException {
        ZipEntry entry = jar.getEntry(JarFile.MANIFEST_NAME);
        if (entry == null) return null;
        try (InputStream stream = jar.getInputStream(entry)) {
            return new Manifest(stream);
        }
    }

    private void addJarInside(ZipFile jar, ZipEntry inside, File file) throws IOException {
        Entry found = new Entry(new File(file, inside.getName()));
        entries.add(found);
        try (ZipInputStream stream = new ZipInputStream(jar.getInputStream(inside))) {
            for (ZipEntry entry; (entry = stream.getNextEntry()) != null; ) {
                String name = entry.getName();
                if (!isClass(name) || name.startsWith("META-INF/")) continue;
                byte[] bytes = all(stream);
                found.classes.putIfAbsent(without(name), () -> bytes);
            }
        }
    }

    /** As {@code java} does: the class path of a jar's manifest is relative to the jar. */
    private void addNamedBy(Manifest manifest, File jar) {
        String paths = manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
        if (paths == null) return;
        for (String each : paths.trim().split("\\s+")) {
            if (each.isEmpty()) continue;
            try {
                add(new File(jar.toURI().resolve(each)).getPath());
            } catch (IllegalArgumentException notAFile) {
                continue;
            }
        }
    }

    private static int ownVersion() {
        String version = System.getProperty("java.specification.version");
        return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
    }

    private static boolean isClass(String name) {
        return name.endsWith(".class") && !name.endsWith("module-info.class") && !name.endsWith("package-info.class");
    }

    private static String without(String name) {
        return name.substring(0, name.length() - ".class".length());
    }

    private static String beginning(String name, String[] beginnings) {
        for (String each : beginnings) if (name.startsWith(each)) return each;
        return null;
    }

    private static byte[] all(InputStream stream) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] buffer = new byte[16384];
        for (int count; (count = stream.read(buffer)) > 0; ) bytes.write(buffer, 0, count);
        return bytes.toByteArray();
    }
}
