package store;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What a test wants of a program: calls that can fail, in several contexts and threads. The first word says which. */
public class Store {
    private final OutputStream out = new ByteArrayOutputStream();

    public static void main(String[] words) throws Exception {
        switch (words[0]) {
            case "write":
                new Store().write(5);
                break;
            case "contexts":
                contexts();
                break;
            case "wait":
                waitForAnother();
                break;
            case "busy":
                new Store().write(30_000);
                break;
            case "twice":
                twice();
                break;
            case "log":
                for (int k = 0; k < 3; k++) Logger.getLogger("store").log(Level.WARNING, "put {0}", k);
                Logger.getLogger("store").fine("not shown");
                new Store().write(1);
                break;
            case "callback":
                new Thread(() -> new Store().write(1)).run();
                break;
            case "halt":
                new Store().write(3);
                Runtime.getRuntime().halt(3);
                break;
            default:
                new Store().check(words[0]);
        }
        System.out.println("done");
    }

    void write(int times) {
        for (int k = 0; k < times; k++) {
            try {
                put(k);
                if (times < 10) System.out.println("put " + k);
            } catch (IOException error) {
                System.out.println("cannot put " + k + ": " + error);
                error.printStackTrace();
            }
        }
    }

    private void put(int k) throws IOException {
        out.write(k);
    }

    private final File file = new File("no such file");

    private long size() {
        return file.length();
    }

    private boolean isOpen() {
        return file.exists();
    }

    private String owner() {
        return file.getName();
    }

    private void check(String word) throws IOException {
        if (word.equals("closed")) throw new IOException("closed, as asked");
        System.out.println("size " + size() + ", open " + isOpen() + ", of " + owner());
    }

    /** The same call by way of two methods, and in a pool. */
    private static void contexts() throws Exception {
        Store store = new Store();
        store.first();
        store.second();
        store.first();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.submit(() -> store.second()).get();
        pool.shutdown();
        Thread named = new Thread(store::first, "writer:3");
        named.start();
        named.join();
    }

    void first() {
        write(1);
    }

    void second() {
        recursive(3);
    }

    private void recursive(int depth) {
        if (depth > 0) recursive(depth - 1);
        else write(1);
    }

    /** One that waits is interrupted while it does. */
    private static void waitForAnother() throws Exception {
        Semaphore none = new Semaphore(0);
        Thread waiting = new Thread(() -> {
            try {
                none.tryAcquire(1, TimeUnit.MILLISECONDS);
                System.out.println("went on");
            } catch (InterruptedException error) {
                System.out.println("interrupted");
            }
        });
        waiting.start();
        while (waiting.isAlive()) {
            waiting.interrupt();
            waiting.join(10);
        }
    }

    /** Two JVMs more, one after the other. */
    private static void twice() throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        for (int k = 0; k < 2; k++)
            new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "store.Store", "write").inheritIO().start().waitFor();
    }
}
