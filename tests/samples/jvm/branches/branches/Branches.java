package branches;

import java.io.File;
import java.util.logging.Logger;

/** Two branches, each in a JVM of its own, one after the other; tells in the end which of them has lost an order. */
public final class Branches {
    private static final Logger LOG = Logger.getLogger(Branches.class.getName());

    public static void main(String[] words) throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        String classes = System.getProperty("java.class.path");
        for (String name : new String[] {"north", "south"}) {
            new ProcessBuilder(java, "-Xmx64m", "-cp", classes, "branches.Branch", name).inheritIO().start().waitFor();
            if (new File(name).length() < Branch.ORDERS) LOG.severe(name + " has lost an order");
        }
    }
}
