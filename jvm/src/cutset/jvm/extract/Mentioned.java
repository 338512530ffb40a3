package cutset.jvm.extract;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import org.objectweb.asm.Type;

/** Classes outside that the program speaks of: those above them, and how its exceptions can be made. */
final class Mentioned {
    private final Set<String> types = new TreeSet<>();
    private final Set<String> exceptions = new TreeSet<>();

    void type(String name) {
        if (!name.startsWith("[")) types.add(name);
    }

    void exception(String name) {
        type(name);
        exceptions.add(name);
    }

    Set<String> withSupertypes(Hierarchy hierarchy) {
        Set<String> found = new TreeSet<>();
        for (String each : types) found.addAll(hierarchy.withSupertypes(each));
        return found;
    }

    /** By number of the exception: "()", "(String)", "(String,Throwable)". */
    Map<Integer, List<String>> constructors(Hierarchy hierarchy, Strings strings) {
        Map<Integer, List<String>> found = new TreeMap<>();
        for (String each : exceptions) {
            Hierarchy.Header header = hierarchy.header(each);
            if (header == null) continue;
            List<String> all = new ArrayList<>();
            for (String descriptor : header.constructors) all.add(parameters(descriptor));
            Collections.sort(all);
            found.put(strings.type(each), all);
        }
        return found;
    }

    private static String parameters(String descriptor) {
        StringJoiner found = new StringJoiner(",", "(", ")");
        for (Type each : Type.getArgumentTypes(descriptor)) {
            String name = each.getClassName();
            found.add(name.substring(name.lastIndexOf('.') + 1));
        }
        return found.toString();
    }
}
