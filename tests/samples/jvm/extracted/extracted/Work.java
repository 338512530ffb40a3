package extracted;

import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** Values, what they depend on, and code that is handed on. */
class Work extends Thread {
    private final Queue<Integer> queue = new ArrayDeque<>();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private ExecutorService pool;
    private long position;
    private int failures;

    static class Task implements Callable<Integer> {
        @Override
        public Integer call() throws IOException {
            return new FileInputStream("x").read();
        }
    }

    Future<Integer> handOn() {
        pool.execute(() -> queue.add(3));
        pool.execute(this::step);
        new Thread(this, "worker").start();
        Task task = new Task();
        return pool.submit(task);
    }

    @Override
    public void run() {
        while (!stopped.get()) step();
    }

    private void step() {
        if (queue.isEmpty()) return;
        position = measured() + position;
        failures++;
    }

    private long measured() {
        return Runtime.getRuntime().freeMemory();
    }

    boolean tells(int limit) {
        boolean enough = false;
        if (failures > limit) enough = true;
        if (enough) stopped.set(true);
        long now = measured();
        if (now > 7) return true;
        return enough;
    }

    int nested(FileInputStream in) {
        try {
            return in.read();
        } catch (IOException e) {
            try {
                in.close();
            } catch (IOException again) {
                failures = 1;
            }
        }
        return -1;
    }
}
