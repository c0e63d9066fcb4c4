import java.io.File;
import java.util.ArrayList;
import java.util.List;

import org.eclipse.jgit.api.CloneCommand;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.RefUpdate;
import org.eclipse.jgit.lib.StoredConfig;
import org.eclipse.jgit.revwalk.RevCommit;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.transport.FilterSpec;
import org.eclipse.jgit.transport.PushResult;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteRefUpdate;
import org.eclipse.jgit.transport.UsernamePasswordCredentialsProvider;

/** Clones, deepens, filters and pushes with JGit. Arguments: address, user, password, directory. */
class JGitClient {
  static UsernamePasswordCredentialsProvider credentials;
  static String[] arguments;

  static CloneCommand cloneTo(String name) {
    return Git.cloneRepository()
        .setURI(arguments[0])
        .setCredentialsProvider(credentials)
        .setDirectory(new File(arguments[3], name));
  }

  static int count(Git git) throws Exception {
    int commits = 0;
    for (RevCommit commit : git.log().call()) commits++;
    return commits;
  }

  static void setRef(Git git, String name, ObjectId to) throws Exception {
    RefUpdate update = git.getRepository().updateRef(name);
    update.setNewObjectId(to);
    update.forceUpdate();
  }

  static void push(Git git, boolean isAtomic, List<String> refused, String... specs) throws Exception {
    List<RefSpec> refSpecs = new ArrayList<>();
    for (String spec : specs) refSpecs.add(new RefSpec(spec));
    Iterable<PushResult> results =
        git.push().setCredentialsProvider(credentials).setAtomic(isAtomic).setRefSpecs(refSpecs).call();
    for (PushResult result : results) {
      for (RemoteRefUpdate update : result.getRemoteUpdates()) {
        if (update.getStatus() != RemoteRefUpdate.Status.OK) refused.add(update.getRemoteName());
      }
    }
  }

  public static void main(String[] args) throws Exception {
    arguments = args;
    credentials = new UsernamePasswordCredentialsProvider(args[1], args[2]);
    Git full = cloneTo("full").call();
    Git shallow = cloneTo("shallow").setDepth(1).call();
    List<Integer> depths = new ArrayList<>(List.of(count(shallow)));
    shallow.fetch().setCredentialsProvider(credentials).setDepth(3).call();
    depths.add(count(shallow));
    shallow.fetch().setCredentialsProvider(credentials).setUnshallow(true).call();
    depths.add(count(shallow));

    Git partial = Git.init().setBare(true).setDirectory(new File(args[3], "partial")).call();
    StoredConfig config = partial.getRepository().getConfig();
    config.setString("protocol", null, "version", "2");
    config.save();
    FilterSpec filter = FilterSpec.fromFilterLine("blob:none");
    partial.fetch().setRemote(args[0]).setCredentialsProvider(credentials)
        .setRefSpecs("+refs/heads/*:refs/heads/*")
        .setTransportConfigCallback(transport -> transport.setFilterSpec(filter)).call();
    ObjectId head = full.getRepository().resolve(Constants.HEAD);
    int blobs = 0;
    try (RevWalk walk = new RevWalk(full.getRepository())) {
      RevCommit commit = walk.parseCommit(head);
      ObjectId blob = full.getRepository().resolve("HEAD:file.txt");
      if (partial.getRepository().getObjectDatabase().has(blob)) blobs++;

      setRef(full, "refs/heads/new", head);
      setRef(full, "refs/heads/old", commit.getParent(0));
      full.tag().setName("made").setMessage("made here").setObjectId(commit).call();
    }
    List<String> refused = new ArrayList<>();
    push(full, false, refused, "refs/heads/new:refs/heads/new", "+refs/heads/old:refs/heads/old",
        "refs/tags/made:refs/tags/made", ":refs/heads/gone");
    push(full, true, refused, "refs/heads/new:refs/heads/beside", "refs/heads/new:refs/pull/1/head");

    String quoted = refused.isEmpty() ? "" : "\"" + String.join("\",\"", refused) + "\"";
    System.out.printf("{\"commits\":%d,\"depths\":%s,\"blobs\":%d,\"refused\":[%s]}%n",
        count(full), depths, blobs, quoted);
  }
}
