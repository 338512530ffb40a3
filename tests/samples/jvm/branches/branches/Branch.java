package branches;

import java.io.FileOutputStream;
import java.io.IOException;
import java.util.logging.Logger;

/** Writes its orders down; does not try again. */
public final class Branch {
    static final int ORDERS = 3;
    private static final Logger LOG = Logger.getLogger(Branch.class.getName());

    public static void main(String[] words) throws IOException {
        try (FileOutputStream out = new FileOutputStream(words[0])) {
            for (int order = 1; order <= ORDERS; order++) take(order, out);
        }
    }

    private static void take(int order, FileOutputStream out) {
        try {
            out.write(order);
            LOG.info("order " + order + " is taken");
        } catch (IOException error) {
            LOG.warning("cannot write order " + order + ": " + error.getMessage());
        }
    }
}
