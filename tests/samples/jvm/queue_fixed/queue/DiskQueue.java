package queue;

import java.io.FileWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** As it should be. */
public class DiskQueue {
    private final List<String> items = new ArrayList<>();
    private boolean broken;

    public void push(String item) {
        if (broken) {
            return;
        }
        items.add(item);
        try {
            writeIndex();
        } catch (IOException error) {
            System.out.println("cannot write the index: " + error.getMessage());
            broken = false; // the index can be written again from the items
        }
    }

    private void writeIndex() throws IOException {
        try (FileWriter file = new FileWriter("index")) {
            file.write(Integer.toString(items.size()));
        }
    }

    public int size() {
        return items.size();
    }
}
