package cutset.jvm;

import cutset.jvm.extract.Extract;
import cutset.jvm.extract.Locate;
import java.io.IOException;
import java.util.Arrays;

/** {@code java -jar cutset-jvm.jar extract REQUEST OUT}: what is not the agent. */
public final class Main {
    private Main() {}

    public static void main(String[] words) throws IOException {
        String command = words.length == 0 ? "" : words[0];
        String[] rest = words.length == 0 ? words : Arrays.copyOfRange(words, 1, words.length);
        if (command.equals("extract")) Extract.main(rest);
        else if (command.equals("locate")) Locate.main(rest);
        else {
            System.err.println("cutset-jvm.jar: extract or locate REQUEST OUT; or -javaagent:cutset-jvm.jar=PLAN");
            System.exit(2);
        }
    }
}
