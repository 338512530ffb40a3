package cutset.jvm.agent;

import cutset.jvm.agent.Plan.PlannedSite;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Adler32;
import java.util.zip.CRC32;

/**
 * What became of a class, and the folder in which later rounds find it: most of what the agent costs is that the code
 * which weaves is not compiled yet when a JVM starts.
 */
final class Woven {
    final int path; // the place of its source file in the plan; -1: it is not analysed
    final int lastLine; // of the first lines of its functions
    final List<String> problems;
    final byte[] classFile; // null: nothing was put into it

    Woven(int path, int lastLine, List<String> problems, byte[] classFile) {
        this.path = path;
        this.lastLine = lastLine;
        this.problems = problems;
        this.classFile = classFile;
    }

    /** Where what becomes of a class in this plan is kept. Two checksums and a size: nobody forges classes here. */
    static File place(String folder, Plan plan, String name, List<PlannedSite> sites, byte[] classFile) {
        StringBuilder asked = new StringBuilder(name).append(plan.functions).append(plan.analysedSum);
        if (sites != null) for (PlannedSite each : sites) asked.append('\n').append(each.number).append(each.key());
        CRC32 sum = new CRC32(), askedSum = new CRC32();
        Adler32 other = new Adler32();
        sum.update(classFile, 0, classFile.length);
        other.update(classFile, 0, classFile.length);
        byte[] text = asked.toString().getBytes(StandardCharsets.UTF_8);
        askedSum.update(text, 0, text.length);
        String sums = Long.toHexString(sum.getValue() << 32 | other.getValue()) + "-" + classFile.length;
        return new File(folder, sums + "-" + Long.toHexString(askedSum.getValue()) + "-" + text.length);
    }

    /** Null if it is not there. */
    static Woven read(File place) {
        if (!place.exists()) return null;
        byte[] content = new byte[(int) place.length()];
        try (DataInputStream file = new DataInputStream(new FileInputStream(place))) {
            file.readFully(content);
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(content));
            int path = in.readInt(), lastLine = in.readInt();
            List<String> problems = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) problems.add(in.readUTF());
            byte[] classFile = in.available() == 0 ? null : new byte[in.available()];
            if (classFile != null) in.readFully(classFile);
            return new Woven(path, lastLine, problems, classFile);
        } catch (IOException unreadable) {
            return null;
        }
    }

    /** Whole or not at all, as other JVMs may read it. */
    void write(File place) {
        try {
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(content);
            out.writeInt(path);
            out.writeInt(lastLine);
            out.writeInt(problems.size());
            for (String each : problems) out.writeUTF(each);
            if (classFile != null) out.write(classFile);
            File beside = File.createTempFile("woven", null, place.getParentFile());
            try (FileOutputStream file = new FileOutputStream(beside)) {
                content.writeTo(file);
            }
            if (!beside.renameTo(place)) beside.delete();
        } catch (IOException notKept) {
            return; // the next round weaves it again
        }
    }
}
