import static org.junit.jupiter.api.Assertions.fail;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Fails until the bug is fixed that replay.sh shows. Needs JUnit 5, a shell and Python 3.11 or later, and nothing of
 * Cutset. Variables of the environment:
 *
 * <pre>
 * CUTSET_REPLAY              the folder of replay.sh, if it was moved
 * CUTSET_REPLAY_CLASS_PATH   runs the workload with other classes, as of the fixed version
 * CUTSET_REPLAY_JAVA         runs it with another java
 * CUTSET_PYTHON              the Python, if it is not on PATH
 * </pre>
 */
class ReproductionTest {
    private static final String REPLAY = "@FOLDER@";

    @Test
    void theFailureIsGone() throws Exception {
        String folder = System.getenv().getOrDefault("CUTSET_REPLAY", REPLAY);
        List<String> command = new ArrayList<>(Arrays.asList("sh", folder + "/replay.sh"));
        addOption(command, "--class-path", "CUTSET_REPLAY_CLASS_PATH");
        addOption(command, "--java", "CUTSET_REPLAY_JAVA");
        Process replay = new ProcessBuilder(command).redirectErrorStream(true).start();
        String told = textOf(replay.getInputStream());
        if (replay.waitFor() != 0) { // 1: it is there; 3: it cannot be told, as where the site of the fault is gone
            fail(told);
        }
    }

    private static void addOption(List<String> command, String option, String variable) {
        String value = System.getenv(variable);
        if (value != null) {
            command.addAll(Arrays.asList(option, value));
        }
    }

    private static String textOf(InputStream stream) throws Exception {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) {
            text.write(buffer, 0, count);
        }
        return text.toString("UTF-8");
    }
}
