import { describe, expect, it } from "vitest";

import { makeRepo, type Repo } from "../support/forge.ts";
import { clone, commit, git, listRemote, makeDirectory, makeWork, tryGit } from "../support/git.ts";

const HISTORY = 8;

/** A repository with a linear history of `HISTORY` commits, and the working copy that pushed it. */
async function makeHistory(): Promise<{ repo: Repo; work: string }> {
  const repo = await makeRepo();
  const work = await makeWork();
  for (let at = 1; at <= HISTORY; at++) {
    await commit(work, { [`dir/${at % 3}.txt`]: `text ${at}\n`.repeat(50) }, `commit ${at}`);
    // Several packs: a fetch needs objects from all of them.
    if (at % 3 === 0) await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  }
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  return { repo, work };
}

const count = (directory: string, revision = "HEAD"): Promise<string> =>
  git(directory, ["rev-list", "--count", revision]);

/** The number of objects in a repository. */
async function countObjects(directory: string): Promise<number> {
  const listing = await git(directory, ["cat-file", "--batch-all-objects", "--batch-check"]);
  return listing.split("\n").length;
}

describe.each([0, 1, 2])("with protocol version %i", (version) => {
  const protocol = ["-c", `protocol.version=${version}`];

  it("fetches only new objects", async () => {
    const { repo, work } = await makeHistory();
    const copy = await clone(repo.url, ...protocol);
    const before = await countObjects(copy);
    await commit(work, { "dir/1.txt": "new\n" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const { output } = await tryGit(copy, [...protocol, "fetch", "--progress"]);
    // A commit, two trees and a blob.
    expect(output).toContain("Enumerating objects: 4, done.");
    expect((await countObjects(copy)) - before).toBe(4);
    await git(copy, ["fsck", "--strict", "--full"]);
  });

  it("clones shallow, deepens, and unshallows", async () => {
    const { repo } = await makeHistory();
    const copy = await clone(repo.url, ...protocol, "--depth=2");
    expect(await count(copy)).toBe("2");
    await git(copy, [...protocol, "fetch", "--quiet", "--deepen=2"]);
    expect(await count(copy)).toBe("4");
    await git(copy, [...protocol, "fetch", "--quiet", "--depth=6"]);
    expect(await count(copy)).toBe("6");
    await git(copy, [...protocol, "fetch", "--quiet", "--unshallow"]);
    expect(await count(copy)).toBe(String(HISTORY));
    await git(copy, ["fsck", "--strict", "--full"]);
  });

  it("fetches into a shallow clone, and pushes from it", async () => {
    const { repo, work } = await makeHistory();
    const copy = await clone(repo.url, ...protocol, "--depth=1");
    const next = await commit(copy, { "dir/new.txt": "from the shallow one\n" });
    await git(copy, [...protocol, "push", "--quiet", repo.ownUrl, "main"]);
    await git(work, ["pull", "--quiet", repo.url, "main"]);
    expect(await git(work, ["rev-parse", "HEAD"])).toBe(next);
    await commit(work, { "dir/2.txt": "and back\n" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    await git(copy, [...protocol, "pull", "--quiet"]);
    expect(await count(copy)).toBe("3");
    await git(copy, ["fsck", "--strict", "--full"]);
  });

  it("refuses a push from a shallow clone to a repository that lacks its boundary's parents", async () => {
    const { repo } = await makeHistory();
    const [empty, copy] = [await makeRepo(), await clone(repo.url, ...protocol, "--depth=1")];
    const pushed = await tryGit(copy, ["push", empty.ownUrl, "main"]);
    expect(pushed.code).not.toBe(0);
    expect(pushed.output).toContain("[remote rejected] main -> main (shallow update not allowed)");
    expect(await listRemote(empty.url)).toEqual([]);
  });

  it("says which filters it knows to a client that asks for another one", async () => {
    const { repo } = await makeHistory();
    const args = [...protocol, "clone", "--filter=sparse:oid=main:dir", repo.url, "copy"];
    const { code, output } = await tryGit(makeDirectory(), args);
    expect(code).not.toBe(0);
    expect(output).toContain('the filter "sparse:oid=main:dir" is not supported: use blob:none');
  });

  it("fetches tags together with the tagged commits", async () => {
    const { repo, work } = await makeHistory();
    const copy = await clone(repo.url, ...protocol);
    await commit(work, { tagged: "yes\n" });
    await git(work, ["tag", "-a", "v2", "-m", "two"]);
    await git(work, ["push", "--quiet", repo.ownUrl, "main", "v2"]);
    await git(copy, [...protocol, "fetch", "--quiet"]);
    expect(await git(copy, ["tag", "--list"])).toBe("v2");
  });

  it("omits blobs on request, and sends them on demand", async () => {
    const { repo } = await makeHistory();
    const copy = await clone(repo.url, ...protocol, "--filter=blob:none", "--no-checkout");
    const missing = await git(copy, ["rev-list", "--objects", "--missing=print", "HEAD"]);
    expect(missing.split("\n").some((line) => line.startsWith("?"))).toBe(true);
    await git(copy, [...protocol, "checkout", "--quiet", "main"]);
    expect(await git(copy, ["show", "HEAD:dir/2.txt"])).toContain(`text ${HISTORY}`);
    expect(await git(copy, ["show", "HEAD~3:dir/2.txt"])).toContain("text 5");
  });
});

// Without no-done, versions 0 and 1 take one more request, in which the client only says "done".
it.each([0, 1])("version %i takes the pack as soon as the server is ready", async (version) => {
  const [repo, work] = [await makeRepo(), await makeWork()];
  await commit(work, { a: "0" });
  const addCommits = async (directory: string, commits: number) => {
    for (let at = 0; at < commits; at++) {
      await git(directory, ["commit", "--quiet", "--allow-empty", "-m", String(at)]);
    }
  };
  // The client first sends 16 commits, then 32 more: the last ones of them are common.
  await addCommits(work, 60);
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  const copy = await clone(repo.url);
  await git(copy, ["update-ref", "-d", "refs/remotes/origin/main"]);
  await addCommits(copy, 20);
  const next = await commit(work, { a: "1" });
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  const args = ["-c", `protocol.version=${version}`, "fetch", "origin", "main"];
  const { code, output } = await tryGit(copy, args, "", { GIT_TRACE_PACKET: "1" });
  expect(code, output).toBe(0);
  expect(output).toMatch(/fetch-pack< ACK [0-9a-f]{40} ready/);
  expect(output).not.toMatch(/fetch-pack> done/);
  expect(await git(copy, ["rev-parse", "FETCH_HEAD"])).toBe(next);
  await git(copy, ["fsck", "--strict", "--full"]);
});

describe("with protocol version 2", () => {
  it("accepts server options", async () => {
    const { repo } = await makeHistory();
    const listed = await git(makeDirectory(), ["ls-remote", "-o", "a", "-o", "b=c", repo.url]);
    expect(listed).toContain("refs/heads/main");
    expect(await count(await clone(repo.url, "--server-option=a"))).toBe(String(HISTORY));
  });

  it("cuts history by time and by ref", async () => {
    const { repo, work } = await makeHistory();
    await git(work, ["tag", "old", "HEAD~4"]);
    await git(work, ["push", "--quiet", repo.ownUrl, "old"]);
    expect(await count(await clone(repo.url, "--shallow-exclude=old"))).toBe("4");
    expect(await count(await clone(repo.url, "--shallow-since=2001-01-01"))).toBe(String(HISTORY));
  });

  it("omits trees and large blobs on request", async () => {
    const { repo } = await makeHistory();
    for (const filter of ["tree:0", "blob:limit=100"]) {
      const copy = await clone(repo.url, `--filter=${filter}`, "--no-checkout");
      const missing = await git(copy, ["rev-list", "--objects", "--missing=print", "HEAD"]);
      expect(missing).toContain("?");
      await git(copy, ["checkout", "--quiet", "main"]);
      expect(await git(copy, ["show", "HEAD:dir/2.txt"])).toContain(`text ${HISTORY}`);
    }
  });

  it("names the default branch of an empty repository", async () => {
    const repo = await makeRepo();
    const copy = await clone(repo.url, "-c", "init.defaultBranch=other");
    expect(await git(copy, ["symbolic-ref", "HEAD"])).toBe("refs/heads/main");
  });
});
