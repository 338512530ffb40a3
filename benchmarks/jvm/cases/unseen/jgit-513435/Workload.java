import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.internal.storage.file.FileRepository;
import org.eclipse.jgit.lib.CommitBuilder;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.RefUpdate;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.lib.TreeFormatter;
import org.eclipse.jgit.revwalk.RevCommit;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.storage.file.WindowCacheConfig;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.treewalk.TreeWalk;
import org.eclipse.jgit.util.FS;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A library that hands out documents of a mirrored repository, a pack a volume: Workload VOLUMES REQUESTS. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("library");
    private static final int CHAPTERS = 3;
    private static final int TRIES = 5;

    public static void main(String[] arguments) {
        try {
            System.exit(run(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1])) ? 0 : 1);
        } catch (Throwable e) {
            LOG.error("The library fails", e);
            System.exit(2);
        }
    }

    private static boolean run(int volumes, int requests) throws Exception {
        FS.DETECTED.setGitSystemConfig(null); // no other program is asked
        WindowCacheConfig cache = new WindowCacheConfig();
        cache.setPackedGitOpenFiles(1); // a small machine: a pack is opened again when another one was needed
        cache.setPackedGitWindowSize(8192);
        cache.setPackedGitLimit(8192);
        cache.install();
        List<ObjectId> commits = mirrored(volumes);

        boolean good = true;
        int answered = 0;
        Repository mirror = new FileRepository(new File("mirror.git"));
        for (int request = 1; request <= requests && good; request++) {
            int volume = request * 3 % volumes + 1;
            int chapter = request % CHAPTERS + 1;
            if (request % 5 == 0) {
                LOG.info("Backup: volume {}, {} bytes", volume, copied(commits.get(volume - 1), volume));
            }
            good = answered(mirror, request, commits.get(volume - 1), volume, chapter);
            answered += good ? 1 : 0;
        }
        mirror.close();
        LOG.info("{} of {} requests answered", answered, requests);
        return good;
    }

    private static boolean answered(Repository mirror, int request, ObjectId commit, int volume, int chapter) throws InterruptedException {
        for (int attempt = 1; attempt <= TRIES; attempt++) {
            try {
                int size = read(mirror, commit, "chapter" + chapter).length;
                LOG.info("Request {}: volume {}, chapter {}, {} bytes", request, volume, chapter, size);
                return true;
            } catch (IOException e) {
                LOG.warn("Request {}: volume {}, chapter {} cannot be read: {}", request, volume, chapter, e.getMessage());
                Thread.sleep(200);
            }
        }
        LOG.error("Request {}: volume {} is gone, though its pack is on the disk", request, volume);
        return false;
    }

    /** A whole volume, of a repository that is opened for it. */
    private static int copied(ObjectId commit, int volume) throws IOException {
        for (int attempt = 1; ; attempt++) {
            Repository own = new FileRepository(new File("mirror.git"));
            try {
                int size = 0;
                for (int chapter = 1; chapter <= CHAPTERS; chapter++) {
                    size += read(own, commit, "chapter" + chapter).length;
                }
                return size;
            } catch (IOException e) {
                LOG.warn("Backup: volume {} is copied again: {}", volume, e.getMessage());
                if (attempt == TRIES) {
                    throw e;
                }
            } finally {
                own.close();
            }
        }
    }

    private static byte[] read(Repository repository, ObjectId commit, String path) throws IOException {
        try (RevWalk walk = new RevWalk(repository)) {
            RevCommit parsed = walk.parseCommit(commit);
            try (TreeWalk tree = TreeWalk.forPath(walk.getObjectReader(), path, parsed.getTree())) {
                return walk.getObjectReader().open(tree.getObjectId(0), Constants.OBJ_BLOB).getBytes();
            }
        }
    }

    /** Each volume is written to a repository and fetched from it, which makes a pack of it. */
    private static List<ObjectId> mirrored(int volumes) throws Exception {
        List<ObjectId> commits = new ArrayList<>();
        try (Repository origin = new FileRepository(new File("origin.git")); Repository mirror = new FileRepository(new File("mirror.git"))) {
            origin.create(true);
            mirror.create(true);
            for (int volume = 1; volume <= volumes; volume++) {
                commits.add(written(origin, volume, commits));
                new Git(mirror).fetch().setRemote(origin.getDirectory().toURI().toString())
                        .setRefSpecs(new RefSpec("+refs/heads/*:refs/heads/*")).call();
                LOG.info("Volume {} is mirrored", volume);
            }
        }
        // All of that was yesterday.
        new File("mirror.git/objects/pack").setLastModified(System.currentTimeMillis() - TimeUnit.DAYS.toMillis(1));
        return commits;
    }

    private static ObjectId written(Repository origin, int volume, List<ObjectId> before) throws IOException {
        Random words = new Random(volume);
        try (ObjectInserter inserter = origin.newObjectInserter()) {
            TreeFormatter tree = new TreeFormatter();
            for (int chapter = 1; chapter <= CHAPTERS; chapter++) {
                StringBuilder text = new StringBuilder();
                for (int word = 0; word < 200; word++) {
                    text.append(Integer.toString(words.nextInt(1_000_000), 36)).append(' ');
                }
                tree.append("chapter" + chapter, FileMode.REGULAR_FILE, inserter.insert(Constants.OBJ_BLOB, text.toString().getBytes(StandardCharsets.UTF_8)));
            }
            CommitBuilder commit = new CommitBuilder();
            commit.setTreeId(inserter.insert(tree));
            if (!before.isEmpty()) {
                commit.setParentId(before.get(before.size() - 1));
            }
            PersonIdent author = new PersonIdent("author", "author@library", 1_600_000_000_000L + volume * 1000L, 0);
            commit.setAuthor(author);
            commit.setCommitter(author);
            commit.setMessage("Volume " + volume);
            ObjectId id = inserter.insert(commit);
            inserter.flush();
            RefUpdate update = origin.updateRef("refs/heads/master");
            update.setNewObjectId(id);
            update.update();
            return id;
        }
    }
}
