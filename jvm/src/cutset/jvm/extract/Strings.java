package cutset.jvm.extract;

import cutset.jvm.Names;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Each text once; elsewhere its number stands for it. */
final class Strings {
    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> texts = new ArrayList<>();

    int number(String text) {
        if (text == null) return -1;
        Integer known = numbers.putIfAbsent(text, texts.size());
        if (known != null) return known;
        texts.add(text);
        return texts.size() - 1;
    }

    /** Of classes, as {@code org/a/Foo}. */
    int type(String internal) {
        return internal == null ? -1 : number(Names.dotted(internal));
    }

    List<Integer> types(Collection<String> internals) {
        List<Integer> found = new ArrayList<>();
        for (String each : internals) found.add(type(each));
        return found;
    }

    List<Integer> numbers(Collection<String> all) {
        List<Integer> found = new ArrayList<>();
        for (String each : all) found.add(number(each));
        return found;
    }

    List<String> all() {
        return texts;
    }
}
