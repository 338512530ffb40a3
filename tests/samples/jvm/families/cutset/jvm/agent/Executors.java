package cutset.jvm.agent;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Of each name of a thread on the command line: how contexts call it, in an executor and in none. */
public class Executors {
    public static void main(String[] names) throws Exception {
        for (String each : names) {
            ExecutorService executor = new ThreadPoolExecutor(
                    1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> new Thread(task, each));
            System.out.println(executor.submit(() -> Threads.current().family).get());
            executor.shutdown();
        }
        for (String each : names) {
            Thread thread = new Thread(() -> System.out.println(Threads.current().family), "my " + each);
            thread.start();
            thread.join();
        }
    }
}
