package cutset.jvm.extract;

import cutset.jvm.Json;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What to read: jars and class folders by their paths, and {@code package:} with the name of a package or class that is
 * looked for on the class path. Drivers are read as sources are, but have no sites.
 */
final class Request {
    final Map<?, ?> plain;
    final List<List<String>> skipped = new ArrayList<>(); // file, reason
    final ClassPath classPath;
    final Map<String, ClassPath.Content> sources = new TreeMap<>();
    final Map<String, ClassPath.Content> drivers = new TreeMap<>();

    /** Nothing on the class path has such a name. */
    static final class Unknown extends Exception {
        private static final long serialVersionUID = 1;
        final String name;
        final transient ClassPath among;

        Unknown(String name, ClassPath among) {
            super("no jar, class folder, package or class: " + name);
            this.name = name;
            this.among = among;
        }
    }

    private Request(String file) throws IOException {
        plain = (Map<?, ?>) Json.read(new String(Files.readAllBytes(Paths.get(file)), StandardCharsets.UTF_8));
        classPath = new ClassPath(texts("class_path"), skipped);
    }

    static Request read(String file) throws IOException, Unknown {
        Request request = new Request(file);
        for (String each : request.texts("sources")) request.sources.putAll(request.named(each));
        for (String each : request.texts("drivers")) request.drivers.putAll(request.named(each));
        request.sources.keySet().removeAll(request.drivers.keySet());
        return request;
    }

    /** What is not there is left out: in another version, it may have gone. */
    static Request readLeniently(String file) throws IOException {
        Request request = new Request(file);
        for (String each : request.texts("sources"))
            try {
                request.sources.putAll(request.named(each));
            } catch (Unknown gone) {
                continue;
            }
        return request;
    }

    List<String> texts(String key) {
        List<String> found = new ArrayList<>();
        Object values = plain.get(key);
        if (values != null) for (Object each : (List<?>) values) found.add((String) each);
        return found;
    }

    private Map<String, ClassPath.Content> named(String what) throws IOException, Unknown {
        boolean isPath = !what.startsWith("package:");
        String name = what.substring(isPath ? 0 : "package:".length());
        if (isPath && !new File(name).exists()) throw new Unknown(name, classPath);
        Map<String, ClassPath.Content> found = isPath ? classPath.classesOf(name) : classPath.named(name);
        if (found.isEmpty() && !isPath) throw new Unknown(name, classPath);
        return found;
    }
}
