package orders;

import java.io.File;
import java.util.logging.Logger;

/** Takes orders and has them written down by a thread of its own; tells in the end whether all are kept. */
public final class Shop {
    private static final Logger LOG = Logger.getLogger(Shop.class.getName());
    private static final int ORDERS = 6;

    public static void main(String[] words) throws Exception {
        Journal journal = new Journal(new File("journal"));
        Clerk clerk = new Clerk(journal);
        Thread thread = new Thread(clerk, "clerk");
        thread.start();
        for (int order = 1; order <= ORDERS; order++) clerk.take(order);
        clerk.close();
        thread.join();
        int lost = ORDERS - journal.count();
        if (lost > 0) LOG.severe(lost + " orders are lost");
        else LOG.info("all orders are kept");
    }
}
