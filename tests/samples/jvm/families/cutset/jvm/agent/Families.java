package cutset.jvm.agent;

/** Of each name of a thread on the command line: its family. */
public class Families {
    public static void main(String[] names) {
        for (String each : names) System.out.println(Threads.familyOf(each));
    }
}
