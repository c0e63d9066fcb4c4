import { describe, expect, it } from "vitest";

import { callApi, admin, makeRepo, readRepo } from "../support/forge.ts";
import { clone, commit, git, listRemote, makeWork, tryGit } from "../support/git.ts";
import { packOf, sendPack } from "../support/raw-push.ts";

describe("git push", () => {
  it("stores a new history, and a clone has all of its refs and objects", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    for (let at = 0; at < 5; at++) {
      await commit(work, { "README.md": `# ${at}\n`, [`src/${at}.txt`]: "text\n".repeat(at) });
    }
    await git(work, ["tag", "light"]);
    await git(work, ["tag", "-a", "v1", "-m", "one"]);
    await git(work, ["branch", "other", "HEAD~2"]);
    await git(work, ["push", "--quiet", repo.ownUrl, "--all"]);
    await git(work, ["push", "--quiet", repo.ownUrl, "--tags"]);

    const copy = await clone(repo.url, "--mirror");
    const refs = (directory: string) =>
      git(directory, ["for-each-ref", "--format=%(objectname) %(refname)"]);
    expect(await refs(copy)).toBe(await refs(work));
    expect(await git(copy, ["symbolic-ref", "HEAD"])).toBe("refs/heads/main");
    expect(await listRemote(repo.url)).toContain(
      `${await git(work, ["rev-parse", "v1^{}"])}\trefs/tags/v1^{}`,
    );
  });

  it("updates the repository in the API: no longer empty, with its size and default branch", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await git(work, ["checkout", "--quiet", "-b", "trunk"]);
    await commit(work, { a: "a".repeat(5000) });
    expect(await readRepo(repo)).toMatchObject({ empty: true, default_branch: "main" });
    await git(work, ["push", "--quiet", repo.ownUrl, "trunk"]);

    expect(await readRepo(repo)).toMatchObject({ empty: false, default_branch: "trunk" });
    expect(await git(await clone(repo.url), ["symbolic-ref", "HEAD"])).toBe("refs/heads/trunk");
  });

  it("respects a default branch that was changed through the API", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main", "main:next"]);
    const head = async () =>
      (await git(work, ["ls-remote", "--symref", repo.url, "HEAD"])).split("\n")[0];
    expect(await head()).toBe("ref: refs/heads/main\tHEAD");
    await callApi(admin, "PATCH", repo.path, { default_branch: "next" });
    expect(await head()).toBe("ref: refs/heads/next\tHEAD");
    expect(await readRepo(repo)).toMatchObject({ default_branch: "next" });
    // The former default branch can now be deleted, and the new one cannot.
    await git(work, ["push", "--quiet", repo.ownUrl, "--delete", "main"]);
    expect((await tryGit(work, ["push", repo.ownUrl, "--delete", "next"])).code).not.toBe(0);
    expect(await git(await clone(repo.url), ["symbolic-ref", "HEAD"])).toBe("refs/heads/next");
  });

  it("adds commits to existing ones, as a thin pack", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    const lines = Array.from({ length: 3000 }, (_, at) => `line ${at} ${(at * 7919) % 10007}`);
    await commit(work, { big: lines.join("\n") });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    lines[1500] = "changed";
    const last = await commit(work, { big: lines.join("\n") });
    await git(work, ["push", "--quiet", "--thin", repo.ownUrl, "main"]);
    const copy = await clone(repo.url);
    expect(await git(copy, ["rev-parse", "HEAD"])).toBe(last);
    expect(await git(copy, ["show", "HEAD:big"])).toBe(lines.join("\n"));
  });

  it("rewinds a branch only by force", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    await git(work, ["commit", "--quiet", "--amend", "-m", "other"]);
    const refused = await tryGit(work, ["push", repo.ownUrl, "main"]);
    expect(refused.code).not.toBe(0);
    await git(work, ["push", "--quiet", "--force", repo.ownUrl, "main"]);
    expect(await git(await clone(repo.url), ["log", "-1", "--format=%s"])).toBe("other");
  });

  it("deletes a branch, but not the default one", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main", "main:topic"]);
    await git(work, ["push", "--quiet", repo.ownUrl, "--delete", "topic"]);
    const refused = await tryGit(work, ["push", repo.ownUrl, "--delete", "main"]);
    expect(refused.output).toContain("branch main is the default branch and cannot be deleted");
    const refs = await listRemote(repo.url);
    expect(refs.map((line) => line.split("\t")[1])).toEqual(["HEAD", "refs/heads/main"]);
  });

  it("updates the valid refs of a push, and none of them with --atomic", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    const specs = ["main:refs/heads/main", "main:refs/pull/1/head"];
    const atomic = await tryGit(work, ["push", "--atomic", repo.ownUrl, ...specs]);
    expect(atomic.output).toContain("hidden ref");
    expect(atomic.output).toContain("atomic push failure");
    expect(await listRemote(repo.url)).toEqual([]);

    const loose = await tryGit(work, ["push", repo.ownUrl, ...specs]);
    expect(loose.code).not.toBe(0);
    const refs = await listRemote(repo.url);
    expect(refs.map((line) => line.split("\t")[1])).toEqual(["HEAD", "refs/heads/main"]);
  });

  it("preserves paths, branches and contents in any script", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { "ordner/größe.txt": "süß\n", "日本語/ファイル": "内容\n" }, "ümlaut");
    await git(work, ["push", "--quiet", repo.ownUrl, "main", "main:täst/日本"]);
    const copy = await clone(repo.url, "--branch", "täst/日本");
    expect(await git(copy, ["show", "HEAD:日本語/ファイル"])).toBe("内容");
    expect(await git(copy, ["show", "HEAD:ordner/größe.txt"])).toBe("süß");
  });

  it("updates no ref for a pack that is damaged, truncated, or refers to missing objects", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    const oid = await commit(work, { a: "2", b: "3" });
    const push = (pack: Uint8Array) => sendPack(repo, oid, pack);
    const pack = packOf(work, [oid]);
    const damaged = Uint8Array.from(pack);
    damaged[40] = (damaged[40] ?? 0) ^ 0xff;

    expect(await push(damaged)).toMatch(/unpack (?!ok)/);
    expect(await push(pack.subarray(0, pack.length - 30))).toContain("unpack pack: cut off");
    expect(await push(packOf(work, [oid, "^HEAD~1"]))).toContain("is missing");
    expect(await push(new TextEncoder().encode("no pack at all"))).toMatch(/unpack (?!ok)/);
    expect(await listRemote(repo.url)).toEqual([]);
    expect(await push(pack)).toContain("unpack ok");
    expect(await listRemote(repo.url)).toHaveLength(2);
  });
});
