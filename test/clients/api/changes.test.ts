import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { admin, callApi, makeRepo, type Repo, serviceUrl } from "../support/forge.ts";
import { clone, commit, git, makeWork, tryGit } from "../support/git.ts";

interface Made {
  commit: { sha: string };
  content: { sha: string };
  files: ({ sha: string } | null)[];
}

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString("base64");
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const change = (repo: Repo, files: object[], options: object = {}) =>
  callApi<Made>(admin, "POST", `${repo.path}/contents`, { files, ...options });
const changeOne = (repo: Repo, method: string, path: string, body: object) =>
  callApi<Made>(admin, method, `${repo.path}/contents/${encodeURIComponent(path)}`, body);

describe("a history that is written through the API", () => {
  it("passes git fsck", async () => {
    const repo = await makeRepo();
    const author = { name: "Ada", email: "ada@example.com" };
    const dates = { author: "2020-01-02T03:04:05+02:00", committer: "2020-01-03T00:00:00Z" };
    await changeOne(repo, "POST", "docs/über.txt", { content: base64("one\n"), author, dates });
    const noise = Uint8Array.from({ length: 100_000 }, (_, at) => (at * at) % 251);
    const created = await change(
      repo,
      [
        { operation: "create", path: "bin/noise", content: base64(noise) },
        { operation: "create", path: "a.txt", content: "" },
        { operation: "create", path: "a/b/c/d", content: base64("d") },
      ],
      { message: "A batch\n\nAcked-by: X <x@example.com>", signoff: true },
    );
    const work = await clone(repo.ownUrl);
    expect(await git(work, ["log", "-1", "--format=%an %ae %aI %cI %s", "HEAD~"])).toBe(
      "Ada ada@example.com 2020-01-02T03:04:05+02:00 2020-01-03T00:00:00+00:00 Add docs/über.txt",
    );
    expect(await git(work, ["rev-parse", "HEAD"])).toBe(created.commit.sha);
    const trailers = "--format=%(trailers:only)";
    expect(lines(await git(work, ["log", "-1", trailers]))).toEqual([
      "Acked-by: X <x@example.com>",
      expect.stringMatching(/^Signed-off-by: root <.*>$/),
    ]);
    expect(await git(work, ["hash-object", "bin/noise"])).toBe(created.files[0]?.sha);

    // The service continues on commits of git: modes and links stay unchanged.
    await git(work, ["update-index", "--chmod=+x", "a.txt"]);
    await git(work, [
      "update-index",
      "--add",
      "--cacheinfo",
      `120000,${created.files[2]?.sha},link`,
    ]);
    await git(work, ["commit", "--quiet", "-m", "by git"]);
    await git(work, ["push", "--quiet", "origin", "main"]);
    const sha = await git(work, ["rev-parse", "HEAD:a.txt"]);
    await changeOne(repo, "PUT", "bin/a", { content: base64("x"), sha, from_path: "a.txt" });
    const deleted = await git(work, ["rev-parse", "HEAD:a/b/c/d"]);
    await changeOne(repo, "DELETE", "a/b/c/d", { sha: deleted, new_branch: "other" });

    await git(work, ["fetch", "--quiet"]);
    await git(work, ["fsck", "--strict", "--full"]);
    const list = (ref: string) =>
      git(work, ["ls-tree", "-r", "--format=%(objectmode) %(path)", ref]);
    expect(lines(await list("origin/main"))).toEqual([
      "100644 a/b/c/d",
      "100755 bin/a",
      "100644 bin/noise",
      '100644 "docs/\\303\\274ber.txt"',
      "120000 link",
    ]);
    expect(lines(await list("origin/other"))).not.toContain("100644 a/b/c/d");
    expect(await git(work, ["log", "--format=%s", "origin/other"])).toBe(
      "Delete a/b/c/d\nUpdate bin/a\nby git\nA batch\nAdd docs/über.txt",
    );
    await clone(repo.ownUrl);
  });

  it("loses no change if pushes and API writes race for one branch", async () => {
    const repo = await makeRepo();
    await changeOne(repo, "POST", "start", { content: "" });
    const work = await clone(repo.ownUrl);
    const won: string[] = [];
    const write = async (path: string): Promise<void> => {
      const response = await fetch(`${serviceUrl}/api/v1${repo.path}/contents/${path}`, {
        method: "POST",
        headers: {
          Authorization: `Basic ${base64(`${admin.name}:${admin.password}`)}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({ content: base64(path) }),
      });
      expect([201, 409]).toContain(response.status);
      if (response.status === 201) won.push(path);
    };
    for (let round = 0; round < 4; round++) {
      await git(work, ["pull", "--quiet", "--rebase", "origin", "main"]);
      await commit(work, { [`git-${round}`]: "x" });
      const push = tryGit(work, ["push", "--quiet", "origin", "HEAD:main"]);
      const names = ["a", "b", "c"].map((name) => `${name}-${round}`);
      const [{ code }] = await Promise.all([push, ...names.map(write)]);
      if (code === 0) won.push(`git-${round}`);
      else await git(work, ["reset", "--quiet", "--hard", "HEAD~"]);
    }
    const after = await clone(repo.ownUrl);
    const files = lines(await git(after, ["ls-tree", "-r", "--name-only", "HEAD"]));
    expect(files).toEqual(["start", ...won].toSorted());
    expect(won.length).toBeGreaterThanOrEqual(4);
    // One commit per change, in a linear history.
    const count = await git(after, ["rev-list", "--count", "HEAD"]);
    expect(Number(count)).toBe(won.length + 1);
    expect(await git(after, ["rev-list", "--merges", "HEAD"])).toBe("");
  });

  it("accepts patches from git format-patch", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    const text = Array.from({ length: 60 }, (_, at) => `line ${at}\n`).join("");
    await commit(work, {
      "a.txt": text,
      "b.txt": text,
      deleted: "x\n",
      'd/\u00fc "q".txt': "1\r\n2",
    });
    writeFileSync(
      join(work, "bin"),
      Uint8Array.from({ length: 5000 }, (_, at) => at % 256),
    );
    await commit(work, {}, "bytes");
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    await git(work, ["rm", "--quiet", "deleted"]);
    await git(work, ["mv", "b.txt", "c.txt"]);
    writeFileSync(
      join(work, "bin"),
      Uint8Array.from({ length: 5000 }, (_, at) => (at * 3) % 256),
    );
    chmodSync(join(work, "a.txt"), 0o755);
    symlinkSync("a.txt", join(work, "link"));
    const edited = text.replace("line 40\n", "forty\nand more\n");
    await commit(work, { "c.txt": edited, 'd/\u00fc "q".txt': "1\r\n3", new: "" }, "first");
    await commit(work, { "a.txt": `ahead\n${text}` }, "second");
    const patch = await git(work, ["diff", "--binary", "-M", "HEAD~~", "HEAD"]);
    const other = { content: `${patch}\n`, new_branch: "other" };
    await callApi<Made>(admin, "POST", `${repo.path}/diffpatch`, other);
    const mails = await git(work, ["format-patch", "--stdout", "--binary", "HEAD~~"]);
    const json = { content: `${mails}\n`, message: "by mail" };
    await callApi<Made>(admin, "POST", `${repo.path}/diffpatch`, json);
    const after = await clone(repo.ownUrl);
    const tree = await git(work, ["rev-parse", "HEAD^{tree}"]);
    for (const ref of ["origin/main", "origin/other"]) {
      expect(await git(after, ["rev-parse", `${ref}^{tree}`])).toBe(tree);
    }
    expect(await git(after, ["log", "-1", "--format=%s"])).toBe("by mail");
  });
});
