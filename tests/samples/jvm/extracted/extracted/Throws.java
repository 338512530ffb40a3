package extracted;

import java.io.IOException;
import java.util.List;

/** Throws, and what decides about them. */
class Throws {
    private int state;

    void underCondition(int value) throws IOException {
        state = value;
        if (value > 3 && state < 7) throw new IOException("too much: " + value);
        state = 0;
    }

    void byVariable(int value) throws IOException {
        if (value < 0) {
            IOException error = new IOException("below");
            error.addSuppressed(new RuntimeException());
            throw error;
        }
    }

    String always() {
        throw new UnsupportedOperationException();
    }

    int bySwitch(int value) {
        switch (value) {
            case 1:
                return 7;
            case 2:
                return 8;
            default:
                throw new IllegalArgumentException("no " + value);
        }
    }

    void inHandler(List<String> names) {
        state = 1;
        try {
            names.wait(3);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void thrownOn() throws IOException {
        try {
            underCondition(3);
        } catch (IOException e) {
            state = 9;
            throw e;
        }
    }

    void chosen(boolean which) throws Exception {
        throw which ? new IOException("one") : new InterruptedException("other");
    }

    /** Several of one name have their types. */
    void named(int value) {}

    void named(List<String> values, String[] more) {
        if (state > 0) throw new IllegalStateException();
    }
}
