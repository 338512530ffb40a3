package cutset.jvm.extract;

import cutset.jvm.FoundSite;
import cutset.jvm.Json;
import cutset.jvm.Names;
import cutset.jvm.SiteFinder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.tree.ClassNode;

/**
 * Places that read like sites of another version: {@code locate REQUEST.json OUT.json}, where the request has
 * {@code expressions} as well, and the answer {@code places} [module, function, expression, ordinal, raise, path, line,
 * [code around]], and the {@code paths} of all source files.
 */
public final class Locate {
    private Locate() {}

    public static void main(String[] words) throws IOException {
        Request request = Request.readLeniently(words[0]);
        StringBuilder text = new StringBuilder();
        Json.write(answer(request), text);
        Files.write(Paths.get(words[1]), text.toString().getBytes(StandardCharsets.UTF_8));
        request.classPath.close();
    }

    private static Map<String, Object> answer(Request request) {
        Program program = new Program(request);
        Set<String> expressions = new HashSet<>(request.texts("expressions"));
        Set<String> paths = new TreeSet<>();
        List<Object> places = new ArrayList<>();
        for (String name : request.sources.keySet()) {
            ClassNode type = program.type(name);
            if (type == null) continue;
            String path = Names.path(type);
            if (path != null) paths.add(path);
            for (FoundSite site : SiteFinder.find(type, program::isAnalysed))
                if (expressions.contains(site.expression))
                    places.add(Arrays.asList(Names.dotted(name), site.function, site.expression, site.ordinal,
                            site.raise, path == null ? "" : path, site.line, Around.of(site, name)));
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("places", places);
        answer.put("paths", paths);
        return answer;
    }
}
