package cutset.jvm.extract;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.LinkedHashSet;
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

/** Class files in folders and jars, in jars inside of jars, and of the JVM that runs this; found by name, as text only. */
final class ClassPath implements Closeable {
    private static final String[] CLASSES_INSIDE = {"BOOT-INF/classes/", "WEB-INF/classes/"};
    private static final String[] JARS_INSIDE = {"BOOT-INF/lib/", "WEB-INF/lib/"};
    private static final String VERSIONS = "META-INF/versions/";

    /** Where the bytes of a class are. */
    interface Content {
        byte[] read() throws IOException;
    }

    private final Map<String, Content> found = new HashMap<>(); // by name as in the class file, the first of each
    private final Map<String, Map<String, Content>> byEntry = new HashMap<>();
    private final List<Closeable> open = new ArrayList<>();
    private final List<List<String>> skipped;
    private final Set<String> seen = new LinkedHashSet<>();

    ClassPath(List<String> entries, List<List<String>> skipped) {
        this.skipped = skipped;
        for (String entry : entries) add(entry);
    }

    byte[] read(String name) throws IOException {
        Content content = found.get(name);
        if (content != null) return content.read();
        try (InputStream stream = ClassLoader.getSystemResourceAsStream(name + ".class")) {
            return stream == null ? null : all(stream);
        }
    }

    /** Its classes; those of jars inside it are not among them. */
    Map<String, Content> classesOf(String entry) {
        add(entry);
        return byEntry.get(new File(entry).getAbsolutePath());
    }

    Set<String> names() {
        return found.keySet();
    }

    Content content(String name) {
        return found.get(name);
    }

    Set<String> packages() {
        Set<String> packages = new TreeSet<>();
        for (String name : found.keySet())
            for (int end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1))
                if (!packages.add(name.substring(0, end).replace('/', '.'))) break;
        return packages;
    }

    @Override
    public void close() throws IOException {
        for (Closeable each : open) each.close();
    }

    private void add(String entry) {
        File file = new File(entry).getAbsoluteFile();
        if (!seen.add(file.getPath())) return;
        Map<String, Content> classes = new HashMap<>();
        byEntry.put(file.getPath(), classes);
        if (file.getName().equals("*")) {
            File[] jars = file.getParentFile().listFiles((folder, name) -> name.toLowerCase().endsWith(".jar"));
            if (jars == null) return;
            Arrays.sort(jars);
            for (File jar : jars) add(jar.getPath());
        } else if (file.isDirectory()) {
            addFolder(file, "", classes);
            classes.forEach(found::putIfAbsent);
        } else if (file.isFile()) {
            try {
                addJar(file, classes);
            } catch (IOException error) {
                skipped.add(Arrays.asList(file.getPath(), "cannot be read as a jar: " + error.getMessage()));
            }
        }
    }

    private static void addFolder(File folder, String within, Map<String, Content> classes) {
        File[] files = folder.listFiles();
        if (files == null) return;
        for (File file : files) {
            if (file.isDirectory()) addFolder(file, within + file.getName() + "/", classes);
            else if (isClass(file.getName()))
                classes.put(without(within + file.getName()), () -> {
                    try (InputStream stream = java.nio.file.Files.newInputStream(file.toPath())) {
                        return all(stream);
                    }
                });
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
        for (Enumeration<? extends ZipEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
            ZipEntry entry = entries.nextElement();
            String name = entry.getName();
            if (name.endsWith(".jar") && startsWithAny(name, JARS_INSIDE) != null) inside.add(entry);
            int version = 0;
            if (hasVersions && name.startsWith(VERSIONS)) {
                int end = name.indexOf('/', VERSIONS.length());
                if (end < 0) continue;
                version = Integer.parseInt(name.substring(VERSIONS.length(), end));
                name = name.substring(end + 1);
            }
            String prefix = startsWithAny(name, CLASSES_INSIDE);
            if (prefix != null) name = name.substring(prefix.length());
            if (!isClass(name) || name.startsWith("META-INF/") || version > ownVersion()) continue;
            Integer known = versions.put(without(name), version);
            if (known != null && known > version) versions.put(without(name), known);
            else classes.put(without(name), () -> {
                try (InputStream stream = jar.getInputStream(entry)) {
                    return all(stream);
                }
            });
        }
        classes.forEach(found::putIfAbsent);
        for (ZipEntry each : inside) addJarInside(jar, each);
        if (manifest != null) addNamedBy(manifest, file);
    }

    private static Manifest manifest(ZipFile jar) throws IOException {
        ZipEntry entry = jar.getEntry(JarFile.MANIFEST_NAME);
        if (entry == null) return null;
        try (InputStream stream = jar.getInputStream(entry)) {
            return new Manifest(stream);
        }
    }

    private void addJarInside(ZipFile jar, ZipEntry inside) throws IOException {
        try (ZipInputStream stream = new ZipInputStream(jar.getInputStream(inside))) {
            for (ZipEntry entry; (entry = stream.getNextEntry()) != null; ) {
                String name = entry.getName();
                if (!isClass(name) || name.startsWith("META-INF/")) continue;
                byte[] bytes = all(stream);
                found.putIfAbsent(without(name), () -> bytes);
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

    private static String startsWithAny(String name, String[] beginnings) {
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
