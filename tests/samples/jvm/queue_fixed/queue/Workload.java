package queue;

public class Workload {
    public static void main(String[] arguments) {
        DiskQueue queue = new DiskQueue();
        for (int number = 0; number < 6; number++) {
            queue.push("item-" + number);
        }
        System.out.println("kept " + queue.size());
    }
}
