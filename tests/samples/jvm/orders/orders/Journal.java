package orders;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;

/** The third order waits for the fourth. */
final class Journal {
    private final File file;
    private FileOutputStream out;
    private StringBuilder waiting = new StringBuilder();

    Journal(File file) throws IOException {
        this.file = file;
        out = new FileOutputStream(file);
    }

    void append(int order) throws IOException {
        waiting.append(order).append('\n');
        if (order != 3) flush();
    }

    private void flush() throws IOException {
        out.write(waiting.toString().getBytes());
        waiting = new StringBuilder();
    }

    void reopen() throws IOException {
        out.close();
        out = new FileOutputStream(file, true);
        waiting = new StringBuilder();
    }

    void close() throws IOException {
        out.close();
    }

    int count() throws IOException {
        return Files.readAllLines(file.toPath()).size();
    }
}
