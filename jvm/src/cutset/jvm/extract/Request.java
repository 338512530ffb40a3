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

/** What to read: jars, class folders, packages or classes of a class path; and of which of them sites are wanted. */
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

    private Map<String, ClassPath.Content> named(String what) throws Unknown {
        String name = what.substring(what.indexOf(':') + 1);
        if (!what.startsWith("package:") && !what.startsWith("class:")) {
            if (!new File(what).exists()) throw new Unknown(what, classPath);
            return classPath.classesOf(what);
        }
        String path = name.replace('.', '/');
        Map<String, ClassPath.Content> found = new TreeMap<>();
        for (String each : classPath.names())
            if (each.equals(path)
                    || each.startsWith(path + "$")
                    || what.startsWith("package:") && each.startsWith(path + "/"))
                found.put(each, classPath.content(each));
        if (found.isEmpty()) throw new Unknown(name, classPath);
        return found;
    }
}
