import { describe, expect, it } from "vitest";

import { makeRepo } from "../support/forge.ts";
import { clone, commit, git, makeWork } from "../support/git.ts";
import { makeHistory } from "../support/history.ts";
import {
  expectMirror,
  expectSameLines,
  listObjects,
  listReached,
  listRefs,
} from "../support/mirror.ts";

describe.each([
  [0, "blob:none"],
  [1, "blob:limit=1k"],
  [2, "tree:2"],
])("with protocol version %i", (version, filter) => {
  const protocol = ["-c", `protocol.version=${version}`];

  it("a mirror has the refs and objects of its source", async () => {
    const repo = await makeRepo();
    const source = await makeHistory();
    await git(source, [...protocol, "push", "--quiet", "--mirror", repo.ownUrl]);
    const copy = await clone(repo.url, ...protocol, "--mirror");
    await expectMirror(copy, source);
    expect(await git(copy, ["symbolic-ref", "HEAD"])).toBe("refs/heads/main");

    // Each of these must resolve to an object of the right type.
    const peeled = ["rev-parse", "of-nested^{commit}", "of-a-blob^{blob}", "of-a-tree^{tree}"];
    expect(await git(copy, peeled)).toBe(await git(source, peeled));
    expect(await git(copy, ["cat-file", "-t", "refs/tags/nested"])).toBe("tag");
    expect(await git(copy, ["notes", "show", "main"])).toBe("a note");
    expect(await git(copy, ["rev-list", "--max-parents=0", "--all"])).toBe(
      await git(source, ["rev-list", "--max-parents=0", "--all"]),
    );
    const octopus = await git(copy, ["rev-list", "--min-parents=4", "--parents", "main"]);
    expect(octopus.split(" ")).toHaveLength(5);
  });

  it("a mirror still equals its source after every kind of change", async () => {
    const repo = await makeRepo();
    const source = await makeHistory();
    await git(source, [...protocol, "push", "--quiet", "--mirror", repo.ownUrl]);
    const copy = await clone(repo.url, ...protocol, "--mirror");
    await git(source, ["branch", "-D", "--quiet", "left"]);
    await git(source, ["tag", "-d", "of-a-blob"]);
    await git(source, ["branch", "--force", "right", "main~1"]);
    await git(source, ["notes", "append", "-m", "more", "main"]);
    await commit(source, { "new.txt": "new\n" });
    await git(source, ["tag", "-a", "-m", "late", "late", "main"]);
    await git(source, [...protocol, "push", "--quiet", "--mirror", repo.ownUrl]);
    await git(copy, [...protocol, "fetch", "--quiet", "--prune"]);
    expect(await listRefs(copy)).toEqual(await listRefs(source));
    await git(copy, ["fsck", "--strict", "--full"]);
    await expectMirror(await clone(repo.url, ...protocol, "--mirror"), source);
  });

  it("a shallow clone that is unshallowed has the objects of a full clone", async () => {
    const repo = await makeRepo();
    const source = await makeHistory();
    await git(source, ["push", "--quiet", "--mirror", repo.ownUrl]);
    const copy = await clone(repo.url, ...protocol, "--depth=1", "--no-single-branch");
    expect(await git(copy, ["rev-parse", "--is-shallow-repository"])).toBe("true");
    for (const option of ["--depth=3", "--deepen=2", "--unshallow"]) {
      await git(copy, [...protocol, "fetch", "--quiet", "--tags", option]);
      await git(copy, ["fsck", "--strict", "--full"]);
    }
    expect(await git(copy, ["rev-parse", "--is-shallow-repository"])).toBe("false");
    expectSameLines(await listObjects(copy), await listReached(source, "--branches", "--tags"));
  });

  it("a partial clone fetches each missing object on demand", async () => {
    const repo = await makeRepo();
    const source = await makeHistory();
    await git(source, ["push", "--quiet", "--mirror", repo.ownUrl]);
    const copy = await clone(repo.url, ...protocol, `--filter=${filter}`, "--mirror");
    const missing = await git(copy, ["rev-list", "--objects", "--all", "--missing=print"]);
    expect(missing).toMatch(/^\?/m);
    // Git fetches each object when it reads it.
    const oids = (await listReached(source)).map((line) => line.split(" ")[0]);
    await git(copy, [...protocol, "cat-file", "--batch-check"], `${oids.join("\n")}\n`);
    await expectMirror(copy, source);
    await git(copy, ["fsck", "--strict", "--full"]);
  });

  it("an empty repository is cloned and pushed to, and then equals the clone", async () => {
    const repo = await makeRepo();
    const copy = await clone(repo.url, ...protocol);
    expect(await listObjects(copy)).toEqual([]);
    // Only version 2 sends the name of a branch that does not exist yet.
    await git(copy, ["symbolic-ref", "HEAD", "refs/heads/main"]);
    await commit(copy, { a: "first\n" });
    await git(copy, [...protocol, "push", "--quiet", repo.ownUrl, "HEAD:main"]);
    await expectMirror(await clone(repo.url, ...protocol, "--mirror"), copy);
  });
});

describe("git clone", () => {
  it("clones submodules of the same server, by absolute and by relative URL", async () => {
    const [library, project] = [await makeRepo(), await makeRepo()];
    const inner = await makeWork();
    await commit(inner, { "lib.c": "int x;\n" }, "library");
    await git(inner, ["push", "--quiet", library.ownUrl, "main"]);
    const work = await makeWork();
    await git(work, ["submodule", "--quiet", "add", library.url, "absolute"]);
    await git(work, ["remote", "add", "origin", project.url]);
    await git(work, ["submodule", "--quiet", "add", `../${library.name}.git`, "relative"]);
    await commit(work, { "main.c": "int y;\n" }, "project");
    await git(work, ["push", "--quiet", project.ownUrl, "main"]);

    const copy = await clone(project.url, "--recurse-submodules");
    const status = (await git(copy, ["submodule", "status"])).split("\n");
    const oid = await git(inner, ["rev-parse", "main"]);
    expect(status.map((line) => line.trim().split(" ").slice(0, 2))).toEqual([
      [oid, "absolute"],
      [oid, "relative"],
    ]);
    expect(await git(copy, ["-C", "relative", "show", "HEAD:lib.c"])).toBe("int x;");
    await git(`${copy}/absolute`, ["fsck", "--strict", "--full"]);
  });

  it("clones a commit that only renames, in which only trees are new", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { "old/name.txt": "the same\n".repeat(100), "stays.txt": "here\n" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const copy = await clone(repo.url);
    await git(work, ["mv", "old/name.txt", "new.txt"]);
    await git(work, ["commit", "--quiet", "-m", "rename"]);
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const before = await listObjects(copy);
    await git(copy, ["pull", "--quiet"]);
    const fresh = (await listObjects(copy)).filter((line) => !before.includes(line));
    expect(fresh.map((line) => line.split(" ")[1]).toSorted()).toEqual(["commit", "tree"]);
    expect(await git(copy, ["show", "--format=", "--name-status", "-M", "HEAD"])).toBe(
      "R100\told/name.txt\tnew.txt",
    );
    await expectMirror(await clone(repo.url, "--mirror"), work);
  });

  it("keeps paths, links and modes of any kind through a checkout", async () => {
    const repo = await makeRepo();
    const source = await makeHistory();
    await git(source, ["push", "--quiet", "--mirror", repo.ownUrl]);
    const copy = await clone(repo.url, "--branch", "täst/日本");
    expect(await git(copy, ["status", "--porcelain"])).toBe("");
    expect(await git(copy, ["show", "HEAD:docs/grüße.txt"])).toBe("grüße");
    const modes = await git(copy, ["ls-files", "--stage", "docs/link", "run.sh"]);
    expect(modes.split("\n").map((line) => line.slice(0, 6))).toEqual(["120000", "100755"]);
  });

  it("of one branch fetches that branch only", async () => {
    const repo = await makeRepo();
    const source = await makeHistory();
    await git(source, ["push", "--quiet", "--mirror", repo.ownUrl]);
    const copy = await clone(repo.url, "--single-branch", "--branch=pages", "--no-tags");
    expect(await git(copy, ["tag", "--list"])).toBe("");
    expectSameLines(await listObjects(copy), await listReached(source, "pages"));
  });
});
