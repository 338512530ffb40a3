package cutset.jvm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON, as far as Cutset writes it: maps, lists, texts, Long or Double, Boolean, null. */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    public static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at < text.length()) throw json.error("the end");
        return value;
    }

    /** Of null, texts, numbers, booleans, maps, and whatever can be iterated. */
    public static void write(Object value, StringBuilder to) {
        if (value instanceof CharSequence) quote((CharSequence) value, to);
        else if (value instanceof Map) {
            char before = '{';
            if (((Map<?, ?>) value).isEmpty()) to.append('{');
            for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
                to.append(before);
                quote(String.valueOf(each.getKey()), to);
                to.append(':');
                write(each.getValue(), to);
                before = ',';
            }
            to.append('}');
        } else if (value instanceof Iterable) {
            to.append('[');
            boolean first = true;
            for (Object each : (Iterable<?>) value) {
                if (!first) to.append(',');
                write(each, to);
                first = false;
            }
            to.append(']');
        } else to.append(value);
    }

    public static void quote(CharSequence value, StringBuilder to) {
        to.append('"');
        for (int k = 0; k < value.length(); k++) {
            char each = value.charAt(k);
            if (each == '"' || each == '\\') to.append('\\').append(each);
            else if (each < ' ' || Character.isSurrogate(each)) // a half of one would be no UTF-8
                to.append(String.format("\\u%04x", (int) each));
            else to.append(each);
        }
        to.append('"');
    }

    private Object value() {
        space();
        if (at == text.length()) throw error("a value");
        switch (text.charAt(at)) {
            case '{':
                return map();
            case '[':
                return list();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> map() {
        Map<String, Object> found = new LinkedHashMap<>();
        at++;
        if (comes('}')) return found;
        do {
            space();
            String key = string();
            if (!comes(':')) throw error(":");
            found.put(key, value());
        } while (comes(','));
        if (!comes('}')) throw error(", or }");
        return found;
    }

    private List<Object> list() {
        List<Object> found = new ArrayList<>();
        at++;
        if (comes(']')) return found;
        do found.add(value());
        while (comes(','));
        if (!comes(']')) throw error(", or ]");
        return found;
    }

    private String string() {
        if (at == text.length() || text.charAt(at) != '"') throw error("a text");
        int begin = ++at;
        while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\') at++;
        StringBuilder found = new StringBuilder().append(text, begin, at);
        while (at < text.length() && text.charAt(at) != '"') {
            char each = text.charAt(at++);
            found.append(each == '\\' ? escaped() : each);
        }
        if (at++ == text.length()) throw error("\"");
        return found.toString();
    }

    private char escaped() {
        if (at == text.length()) throw error("an escape");
        char each = text.charAt(at++);
        if (each != 'u') {
            int known = "bfnrt".indexOf(each);
            return known < 0 ? each : "\b\f\n\r\t".charAt(known);
        }
        if (at + 4 > text.length()) throw error("four digits");
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }

    private Object number() {
        int begin = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        String number = text.substring(begin, at);
        try {
            return (Object) Long.valueOf(number);
        } catch (NumberFormatException notWhole) {
            try {
                return Double.valueOf(number);
            } catch (NumberFormatException none) {
                at = begin;
                throw error("a value");
            }
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw error("a value");
        at += word.length();
        return value;
    }

    private boolean comes(char expected) {
        space();
        if (at == text.length() || text.charAt(at) != expected) return false;
        at++;
        return true;
    }

    private void space() {
        while (at < text.length() && text.charAt(at) <= ' ') at++;
    }

    private IllegalArgumentException error(String expected) {
        return new IllegalArgumentException("JSON, character " + at + ": expected " + expected);
    }
}
