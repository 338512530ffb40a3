package cutset.jvm.agent;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a JVM leaves in the plan's folder, so that it is there however the JVM ends:
 *
 * <pre>
 * visits.N      of the N-th JVM, from 0; empty unless visits are recorded. Mapped into memory. Rows of seven numbers of
 *               four bytes, little end first: thread, context (both as lines of names.N, from 1), how often the site
 *               was visited in it, log records before, bytes of the log before, site, occurrence (0: not complete);
 *               from COUNTS_AT, by site: how often it was visited, if that is more than the rows tell
 * names.N       names of threads, and contexts, one on each line
 * functions.N   rows of two numbers: of a function that ran, the file, as its place in the plan, and the first line
 * jvm.MAIN.K    empty: the K-th JVM, from 1, whose main class, module or jar is MAIN
 * problems.txt  of all JVMs: sites that were not found, effects that could not be made, our own errors
 * </pre>
 *
 * Streams, not channels: those are closed when somebody interrupts the thread that uses them.
 */
final class Record {
    private static final int VISITS = 200_000; // recorded for each JVM; later ones are only counted
    private static final int ROW = 28; // bytes
    private static final int COUNTS_AT = VISITS * ROW;
    private static final int NAMES = 500_000;

    static int process; // the number of this JVM
    /** What tells this JVM from those that run the same program and began sooner, as words after a thread's. */
    static String amongEqual = "";

    private static File out;
    private static ByteBuffer board;
    private static final AtomicInteger ROWS = new AtomicInteger();

    private static FileOutputStream names;
    private static int nameCount;
    private static FileOutputStream functions;

    private Record() {}

    static void start(Plan plan) throws IOException {
        out = new File(plan.out);
        out.mkdirs(); // if nobody did
        File file;
        do file = new File(out, "visits." + process);
        while (!file.createNewFile() && process++ < 1 << 20);
        amongEqual = amongEqual(System.getProperty("sun.java.command", "java"));
        names = new FileOutputStream(new File(out, "names." + process));
        functions = new FileOutputStream(new File(out, "functions." + process));
        if (!plan.visits) return;
        int size = COUNTS_AT + 4 * plan.sites; // most of it never touched, and so never on the disk
        try (RandomAccessFile opened = new RandomAccessFile(file, "rw")) {
            board = opened.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, size);
        } catch (IOException error) {
            problem("visits of a JVM are not recorded: " + error);
            board = ByteBuffer.allocate(size);
        }
        board.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** By the command, so that other programs that start at the same time do not change the numbers. */
    private static String amongEqual(String command) throws IOException {
        String program = command.replaceFirst("(?s)\\s.*", "").replaceFirst(".*/", "");
        int number = 1;
        while (!new File(out, "jvm." + program + "." + number).createNewFile()) number++;
        return number == 1 ? "" : " in JVM " + number;
    }

    static void visit(int site, int occurrence, Contexts.Context context, int nth) {
        int row = ROWS.getAndIncrement();
        if (row >= VISITS) {
            ROWS.set(VISITS); // it must not come round to 0
            count(site, occurrence);
            return;
        }
        int at = row * ROW;
        board.putInt(at, Threads.current().number());
        board.putInt(at + 4, context.number());
        board.putInt(at + 8, nth);
        board.putInt(at + 12, LogPosition.records());
        board.putInt(at + 16, LogPosition.bytes());
        board.putInt(at + 20, site);
        board.putInt(at + 24, occurrence);
    }

    static void count(int site, int occurrence) {
        if (board != null) board.putInt(COUNTS_AT + 4 * site, occurrence);
    }

    /** The line of a name, from 1; 0: it is not told. */
    static synchronized int name(String name) {
        if (nameCount == NAMES) return 0;
        try {
            names.write((name.replace('\n', ' ').replace('\r', ' ') + "\n").getBytes(StandardCharsets.UTF_8));
            return ++nameCount;
        } catch (IOException error) {
            problem("names of threads and contexts are not recorded: " + error);
            nameCount = NAMES;
            return 0;
        }
    }

    static synchronized void function(int path, int line) {
        ByteBuffer row = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(path).putInt(line);
        try {
            functions.write(row.array());
        } catch (IOException error) {
            problem("functions that ran are not recorded: " + error);
        }
    }

    static synchronized void problem(String problem) {
        try (FileOutputStream file = new FileOutputStream(new File(out, "problems.txt"), true)) {
            file.write((problem.replace('\n', ' ') + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException nobodyElseToTell) {
            return;
        }
    }
}
