package orders;

import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Writes orders down; one that cannot be written is tried again, but not those that waited to be written with it. */
final class Clerk implements Runnable {
    private static final Logger LOG = Logger.getLogger(Clerk.class.getName());
    private static final int CLOSED = 0;

    private final LinkedBlockingQueue<Integer> orders = new LinkedBlockingQueue<>();
    private final Journal journal;

    Clerk(Journal journal) {
        this.journal = journal;
    }

    void take(int order) {
        orders.add(order);
    }

    void close() {
        orders.add(CLOSED);
    }

    @Override
    public void run() {
        try {
            for (int order = orders.take(); order != CLOSED; order = orders.take()) write(order);
            journal.close();
        } catch (InterruptedException | IOException error) {
            LOG.log(Level.SEVERE, "the clerk has left", error);
        }
    }

    private void write(int order) throws IOException {
        try {
            journal.append(order);
            LOG.info("order " + order + " is taken");
        } catch (IOException error) {
            LOG.log(Level.WARNING, "cannot write order " + order + ", trying again", error);
            journal.reopen();
            journal.append(order);
        }
    }
}
