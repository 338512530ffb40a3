package odd;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;

/** Code of all shapes that a verifier might take offence at, once something is put into it. It prints what it did. */
public class OddCode extends Thread {
    private static final File FILE = new File("none");
    private static final boolean EXISTS = FILE.exists();
    private final ReentrantLock lock = new ReentrantLock();

    interface Reader {
        int read(DataInputStream in) throws IOException;

        default long size(File file) {
            return file.length() + 1;
        }

        static boolean isThere(File file) {
            return file.exists();
        }
    }

    enum Kind implements Reader {
        BYTE {
            @Override
            public int read(DataInputStream in) throws IOException {
                return in.readByte();
            }
        },
        DOUBLE {
            @Override
            public int read(DataInputStream in) throws IOException {
                return (int) in.readDouble();
            }
        }
    }

    static final class Failing extends IOException {
        final File file;

        Failing(File file) {
            super(file.getPath());
            this.file = file;
        }
    }

    OddCode() {
        this(new File("a", new File("b").getName()));
    }

    OddCode(File file) {
        super(file.getPath());
        if (file.getName().isEmpty()) throw new IllegalArgumentException(file.getPath());
    }

    public static void main(String[] words) throws Exception {
        OddCode odd = new OddCode();
        System.out.println(odd.getName() + " " + EXISTS + " " + Reader.isThere(FILE) + " " + Kind.BYTE.size(FILE));
        System.out.println(odd.written(7, 2.5, 3L) + " " + odd.closed(words) + " " + odd.chosen(words.length));
        System.out.println(odd.looped(3) + " " + odd.guarded() + " " + odd.lambda().call() + " " + odd.thrown(0));
        odd.start();
        odd.join();
    }

    @Override
    public void run() {
        System.out.println(isAlive() + " " + super.toString().contains("a"));
    }

    private String written(int whole, double half, long large) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(whole);
            out.writeDouble(half);
            out.writeLong(large);
            out.writeUTF(new StringBuilder().append(out.size()).toString());
        }
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
        return Kind.BYTE.read(in) + " " + Kind.DOUBLE.read(in) + " " + in.readLong() + " " + in.readUTF();
    }

    private int closed(String[] words) throws IOException {
        Closeable none = new ByteArrayInputStream(new byte[words.length]);
        try {
            if (words.length == 1) return FILE.list() == null ? 1 : 2;
            if (words.length == 2) throw new Failing(FILE);
            return (int) FILE.length();
        } catch (Failing error) {
            return (int) error.file.length();
        } finally {
            none.close();
        }
    }

    private String chosen(int number) {
        switch (number) {
            case 0:
                return FILE.isHidden() ? "hidden" : FILE.canRead() && FILE.canWrite() ? "both" : "neither";
            case 1:
                return FILE.getParent();
            default:
                throw new IllegalStateException(FILE.getPath());
        }
    }

    private int looped(int times) {
        do if (FILE.lastModified() > 0) throw new IllegalStateException("it is there");
        while (--times > 0);
        return times;
    }

    private synchronized boolean guarded() {
        lock.lock();
        try {
            synchronized (FILE) {
                return lock.isHeldByCurrentThread() ? FILE.setLastModified(0) : FILE.delete();
            }
        } finally {
            lock.unlock();
        }
    }

    private Callable<Boolean> lambda() {
        return () -> FILE.isDirectory() | new File(FILE, "x").isFile();
    }

    private int thrown(int number) {
        try {
            if (number == 0) throw new UnsupportedOperationException(FILE.getName());
            return number;
        } catch (UnsupportedOperationException error) {
            if (number > 0) throw new IllegalStateException(error);
            return FILE.hashCode() * 0;
        }
    }
}
