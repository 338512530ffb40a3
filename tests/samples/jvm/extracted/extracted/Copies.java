package extracted;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/** What compilers copy. */
class Copies {
    int everyWayOut(InputStream in) throws IOException {
        try {
            if (in.read() > 3) return 4;
            in.mark(1);
        } catch (IllegalStateException e) {
            in.reset();
        } finally {
            in.close();
        }
        return 3;
    }

    boolean oneCopyAfterTheOther(InputStream in) throws IOException {
        try {
            try {
                in.mark(2);
            } catch (IllegalStateException e) {
                return false;
            }
        } finally {
            in.close();
        }
        return true;
    }

    int finallyInFinally(InputStream in, InputStream other) throws IOException {
        try {
            return in.read();
        } finally {
            try {
                in.reset();
            } finally {
                other.close();
            }
        }
    }

    int resources(String name) throws IOException {
        try (InputStream one = new FileInputStream(name);
                InputStream two = new FileInputStream(name)) {
            if (one.read() > 3) return two.read();
            System.gc();
        }
        return 3;
    }

    void whichMayBeNull(InputStream maybe) throws IOException {
        try (InputStream in = maybe) {
            in.read();
        }
    }

    /** No copies, though they are alike. */
    void twice(InputStream in) throws IOException {
        in.close(); in.close();
        for (int each = in.read(); each >= 0; each = in.read()) in.mark(each);
        try {
            in.reset();
        } catch (Throwable t) {
            in.skip(1);
            throw t;
        }
        in.skip(1);
    }

    void locked(InputStream in) throws IOException {
        synchronized (this) {
            in.read();
        }
    }
}
