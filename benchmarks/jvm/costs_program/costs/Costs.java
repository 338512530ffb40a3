package costs;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Prints what a visit costs, in nanoseconds, one number on each line: counted, at an armed site, recorded, a function. */
public class Costs {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean(); // others may be at work here, too
    private static final int TIMES = 50_000_000;
    private static final int REPEATS = 5; // of which the best counts: the first ones are not compiled yet
    private static final int SITES = 40;
    private static final int RECORDED = 1_000; // of each site and context

    public static void main(String[] words) {
        Sink sink = words.length == 0 ? new Sink() : null;
        double plain = best(0, sink), counted = best(1, sink), armed = best(2, sink);
        System.out.printf("%.2f%n%.2f%n%.0f%n%.2f%n", counted - plain, armed - plain, recorded(sink), best(3, sink) - plain);
    }

    private static double best(int which, Sink sink) {
        double best = Double.MAX_VALUE;
        for (int k = 0; k < REPEATS; k++) {
            long begin = THREADS.getCurrentThreadCpuTime();
            if (which == 0) plain(sink);
            else if (which == 1) counted(sink);
            else if (which == 2) armed(sink);
            else functions(sink);
            best = Math.min(best, (double) (THREADS.getCurrentThreadCpuTime() - begin) / TIMES);
        }
        return best;
    }

    private static void plain(Sink sink) {
        for (int k = 0; k < TIMES; k++) sink.take(k);
    }

    private static void counted(Sink sink) {
        for (int k = 0; k < TIMES; k++) sink.take(k);
    }

    private static void armed(Sink sink) {
        for (int k = 0; k < TIMES; k++) sink.take(k);
    }

    private static void functions(Sink sink) {
        for (int k = 0; k < TIMES; k++) small(sink, k);
    }

    private static void small(Sink sink, int k) {
        sink.take(k);
    }

    /** As deep as programs are; the first half of the sites is for the compiler. */
    private static double recorded(Sink sink) {
        deep(12, sink, 0, SITES / 2);
        long begin = THREADS.getCurrentThreadCpuTime();
        deep(12, sink, SITES / 2, SITES);
        return (double) (THREADS.getCurrentThreadCpuTime() - begin) / (SITES / 2) / RECORDED;
    }

    private static void deep(int depth, Sink sink, int from, int to) {
        if (depth > 0) deeper(depth - 1, sink, from, to);
        else for (int site = from; site < to; site++) for (int k = 0; k < RECORDED; k++) visit(site, sink);
    }

    private static void deeper(int depth, Sink sink, int from, int to) {
        deep(depth, sink, from, to);
    }

    private static void visit(int site, Sink sink) {
        switch (site) {
            case 0:
                sink.take(0);
                break;
            case 1:
                sink.take(1);
                break;
            case 2:
                sink.take(2);
                break;
            case 3:
                sink.take(3);
                break;
            case 4:
                sink.take(4);
                break;
            case 5:
                sink.take(5);
                break;
            case 6:
                sink.take(6);
                break;
            case 7:
                sink.take(7);
                break;
            case 8:
                sink.take(8);
                break;
            case 9:
                sink.take(9);
                break;
            case 10:
                sink.take(10);
                break;
            case 11:
                sink.take(11);
                break;
            case 12:
                sink.take(12);
                break;
            case 13:
                sink.take(13);
                break;
            case 14:
                sink.take(14);
                break;
            case 15:
                sink.take(15);
                break;
            case 16:
                sink.take(16);
                break;
            case 17:
                sink.take(17);
                break;
            case 18:
                sink.take(18);
                break;
            case 19:
                sink.take(19);
                break;
            case 20:
                sink.take(20);
                break;
            case 21:
                sink.take(21);
                break;
            case 22:
                sink.take(22);
                break;
            case 23:
                sink.take(23);
                break;
            case 24:
                sink.take(24);
                break;
            case 25:
                sink.take(25);
                break;
            case 26:
                sink.take(26);
                break;
            case 27:
                sink.take(27);
                break;
            case 28:
                sink.take(28);
                break;
            case 29:
                sink.take(29);
                break;
            case 30:
                sink.take(30);
                break;
            case 31:
                sink.take(31);
                break;
            case 32:
                sink.take(32);
                break;
            case 33:
                sink.take(33);
                break;
            case 34:
                sink.take(34);
                break;
            case 35:
                sink.take(35);
                break;
            case 36:
                sink.take(36);
                break;
            case 37:
                sink.take(37);
                break;
            case 38:
                sink.take(38);
                break;
            case 39:
                sink.take(39);
                break;
            default:
                throw new IllegalArgumentException("site " + site);
        }
    }

    /** What is called is not ours. */
    static final class Sink {
        private int sum;

        void take(int k) {
            sum += k;
        }
    }
}
