import { createHash } from "node:crypto";

import { describe, expect, it } from "vitest";

import { callApi, admin, makeRepo, readRepo, serviceUrl } from "../support/forge.ts";
import { clone, commit, git, listRemote, makeWork, tryGit } from "../support/git.ts";

describe("git push", () => {
  it("stores a new history, and a clone brings back every ref and object of it", async () => {
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

  it("tells the API that the repository is no longer empty, how large it is, and its default branch", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await git(work, ["checkout", "--quiet", "-b", "trunk"]);
    await commit(work, { a: "a".repeat(5000) });
    expect(await readRepo(repo)).toMatchObject({ empty: true, default_branch: "main" });
    await git(work, ["push", "--quiet", repo.ownUrl, "trunk"]);

    expect(await readRepo(repo)).toMatchObject({ empty: false, default_branch: "trunk" });
    expect(await git(await clone(repo.url), ["symbolic-ref", "HEAD"])).toBe("refs/heads/trunk");
  });

  it("follows a default branch that the API changes", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main", "main:next"]);
    await callApi(admin, "PATCH", repo.path, { default_branch: "next" });
    expect(await git(await clone(repo.url), ["symbolic-ref", "HEAD"])).toBe("refs/heads/next");
  });

  it("adds commits to what is there, as a thin pack", async () => {
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

  it("moves a branch by force, and only by force", async () => {
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
    expect(refused.output).toContain("the default branch can't be deleted");
    const refs = await listRemote(repo.url);
    expect(refs.map((line) => line.split("\t")[1])).toEqual(["HEAD", "refs/heads/main"]);
  });

  it("moves the good refs of a push, and none of them with --atomic", async () => {
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

  it("lets one of two pushes at once win where both move one ref", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "0" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const rivals = await Promise.all(
      [1, 2, 3, 4].map(async (at) => {
        const directory = await clone(repo.url);
        const oid = await commit(directory, { [`file-${at}`]: String(at) });
        return { directory, oid };
      }),
    );
    const outcomes = await Promise.all(
      rivals.map(({ directory }) => tryGit(directory, ["push", repo.ownUrl, "main"])),
    );
    const winners = rivals.filter((_, at) => outcomes[at]?.code === 0);
    expect(winners).toHaveLength(1);
    const losers = outcomes.filter(({ code }) => code !== 0);
    for (const { output } of losers) expect(output).toMatch(/fetch first|rejected/);
    expect(await git(await clone(repo.url), ["rev-parse", "HEAD"])).toBe(winners[0]?.oid);
  });

  it("lets pushes to different branches at once all win", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "0" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    await Promise.all(
      [1, 2, 3].map(async (at) => {
        const directory = await clone(repo.url);
        await commit(directory, { [`file-${at}`]: String(at) });
        await git(directory, ["push", "--quiet", repo.ownUrl, `main:branch-${at}`]);
      }),
    );
    expect(await listRemote(repo.url)).toHaveLength(5);
    await clone(repo.url, "--mirror");
  });

  // A server that others run died of this many.
  it("takes 3,500 refs in one push", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    const oid = await commit(work, { a: "1" });
    const refs = Array.from({ length: 3500 }, (_, at) => `create refs/heads/many/${at} ${oid}\n`);
    await git(work, ["update-ref", "--stdin"], refs.join(""));
    await git(work, ["push", "--quiet", repo.ownUrl, "--all"]);
    expect(await listRemote(repo.url)).toHaveLength(3502);
  });

  it("keeps paths, branches and contents in any alphabet", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { "ordner/größe.txt": "süß\n", "日本語/ファイル": "内容\n" }, "ümlaut");
    await git(work, ["push", "--quiet", repo.ownUrl, "main", "main:täst/日本"]);
    const copy = await clone(repo.url, "--branch", "täst/日本");
    expect(await git(copy, ["show", "HEAD:日本語/ファイル"])).toBe("内容");
    expect(await git(copy, ["show", "HEAD:ordner/größe.txt"])).toBe("süß");
  });

  it("takes a file larger than one part of an upload", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    // Hashes of hashes do not compress: the pack takes three parts.
    let block = Buffer.from("seed");
    const blocks: Buffer[] = [];
    for (let at = 0; at < 280_000; at++) {
      block = createHash("sha512").update(block).digest();
      blocks.push(block);
    }
    await commit(work, { large: Buffer.concat(blocks).toString("latin1") });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const copy = await clone(repo.url);
    expect(await git(copy, ["rev-parse", "HEAD:large"])).toBe(
      await git(work, ["rev-parse", "HEAD:large"]),
    );
  });

  it("moves no ref for a pack that is damaged, cut off, or leads to what is missing", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    const oid = await commit(work, { a: "2", b: "3" });
    const push = (pack: Uint8Array) => sendPack(repo.path.replace("/repos", ""), oid, pack);
    const pack = await packOf(work, [oid]);
    const damaged = Uint8Array.from(pack);
    damaged[40] = (damaged[40] ?? 0) ^ 0xff;

    expect(await push(damaged)).toMatch(/unpack (?!ok)/);
    expect(await push(pack.subarray(0, pack.length - 30))).toContain("unpack pack: cut off");
    expect(await push(await packOf(work, [oid, "^HEAD~1"]))).toContain("is missing");
    expect(await push(new TextEncoder().encode("no pack at all"))).toMatch(/unpack (?!ok)/);
    expect(await listRemote(repo.url)).toEqual([]);
    expect(await push(pack)).toContain("unpack ok");
    expect(await listRemote(repo.url)).toHaveLength(2);
  });
});

/** The pack of what `revisions` reach. */
async function packOf(work: string, revisions: readonly string[]): Promise<Uint8Array> {
  const { execFileSync } = await import("node:child_process");
  return execFileSync("git", ["pack-objects", "--revs", "--stdout", "--quiet"], {
    cwd: work,
    input: revisions.map((revision) => `${revision}\n`).join(""),
  });
}

/** Pushes bytes as they are to `main`, and returns the report. */
async function sendPack(path: string, oid: string, pack: Uint8Array): Promise<string> {
  const line = `${"0".repeat(40)} ${oid} refs/heads/main\0report-status`;
  const length = (line.length + 4).toString(16).padStart(4, "0");
  const response = await fetch(`${serviceUrl}${path}.git/git-receive-pack`, {
    method: "POST",
    headers: {
      Authorization: `Basic ${btoa(`${admin.name}:${admin.password}`)}`,
      "Content-Type": "application/x-git-receive-pack-request",
    },
    body: Buffer.concat([Buffer.from(`${length}${line}0000`), pack]),
  });
  return response.text();
}
