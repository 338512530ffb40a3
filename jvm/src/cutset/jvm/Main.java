package cutset.jvm;

import java.util.Arrays;

/** {@code java -jar cutset-jvm.jar extract REQUEST OUT}: what is not the agent. */
public final class Main {
    private Main() {}

    public static void main(String[] words) throws Throwable {
        String command = words.length == 0 ? "" : words[0];
        String[] rest = words.length == 0 ? words : Arrays.copyOfRange(words, 1, words.length);
        switch (command) {
            case "extract":
                run("cutset.jvm.extract.Extract", rest);
                return;
            case "locate":
                run("cutset.jvm.extract.Locate", rest);
                return;
            default:
                System.err.println("cutset-jvm.jar: extract REQUEST.json OUT.jsonl, or -javaagent:cutset-jvm.jar=PLAN.json");
                System.exit(2);
        }
    }

    private static void run(String type, String[] words) throws Throwable {
        try {
            Class.forName(type).getMethod("main", String[].class).invoke(null, (Object) words);
        } catch (java.lang.reflect.InvocationTargetException error) {
            throw error.getCause();
        }
    }
}
