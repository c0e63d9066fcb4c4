/**
 * Mistakes observed in other servers, one regression test each. The rest of the list: concurrent
 * pushes to different branches (concurrency.test.ts), more than 250,000 objects (size.test.ts), and
 * buffers that grow with a slow client (test/git-http/slow-reader.test.ts).
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { makeRepo, type Repo } from "../support/forge.ts";
import { clone, commit, git, listRemote, makeDirectory, makeWork, tryGit } from "../support/git.ts";
import { makeHistory } from "../support/history.ts";
import { expectMirror, expectSameLines, listObjects } from "../support/mirror.ts";
import { packOf, sendPack } from "../support/raw-push.ts";

/** A bare repository that git itself serves, for comparison. */
async function makeOwn(): Promise<string> {
  const directory = makeDirectory();
  await git(directory, ["init", "--quiet", "--bare", "--initial-branch=main"]);
  await git(directory, ["config", "uploadpack.allowFilter", "true"]);
  await git(directory, ["config", "uploadpack.allowAnySHA1InWant", "true"]);
  return `file://${directory}`;
}

/** The number of objects in the pack of a fetch. */
async function countFetched(
  directory: string,
  options: readonly string[],
  ...args: readonly string[]
): Promise<number> {
  const { code, output } = await tryGit(directory, [...options, "fetch", "--progress", ...args]);
  expect(code, output).toBe(0);
  const counted = /(?:Unpacking|Receiving) objects: 100% \((\d+)\/\d+\)/.exec(output);
  return Number(counted?.[1] ?? 0);
}

const versions = [0, 1, 2].map((version) => ["-c", `protocol.version=${version}`]);

it("a push that lacks an object is refused, for every kind of object", async () => {
  const repo = await makeRepo();
  const work = await makeWork();
  await commit(work, { "dir/a": "1" });
  const oid = await commit(work, { "dir/a": "2" });
  await git(work, ["tag", "-a", "-m", "tag", "v1"]);
  const tagOid = await git(work, ["rev-parse", "v1"]);
  const names = ["HEAD:dir/a", "HEAD:dir", "HEAD^{tree}", "HEAD", "HEAD~1"];
  const all = (await git(work, ["rev-list", "--objects", "--no-object-names", "v1"])).split("\n");
  for (const name of names) {
    const lacking = await git(work, ["rev-parse", name]);
    const pack = packOf(
      work,
      all.filter((each) => each !== lacking),
      [],
    );
    expect(await sendPack(repo, tagOid, pack, "refs/tags/v1"), name).toContain("is missing");
  }
  expect(await sendPack(repo, oid, packOf(work, []), "refs/heads/main")).toContain(
    "missing necessary objects",
  );
  expect(await listRemote(repo.url)).toEqual([]);
  expect(await sendPack(repo, tagOid, packOf(work, all, []), "refs/tags/v1")).toContain("ok refs");
});

it("refs are never stale: pushed refs are listed at once, and deleted refs are not", async () => {
  const repo = await makeRepo();
  const work = await makeWork();
  await commit(work, { a: "0" });
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  const copy = await clone(repo.url);
  for (let at = 1; at <= 6; at++) {
    const oid = await commit(work, { a: String(at) });
    await git(work, ["push", "--quiet", repo.ownUrl, "main", `main:refs/heads/at-${at}`]);
    for (const version of versions) {
      const listing = await git(work, [...version, "ls-remote", repo.url]);
      expect(listing).toContain(`${oid}\trefs/heads/main`);
      expect(listing).toContain(`${oid}\trefs/heads/at-${at}`);
    }
    await git(copy, ["pull", "--quiet"]);
    expect(await git(copy, ["rev-parse", "HEAD"])).toBe(oid);
    await git(work, ["push", "--quiet", repo.ownUrl, "--delete", `at-${at}`]);
    expect(await git(work, ["ls-remote", repo.url])).not.toContain(`at-${at}`);
  }
});

it("a fetch of one commit receives the objects that git itself would send, and no others", async () => {
  const repo = await makeRepo();
  const own = await makeOwn();
  const work = await makeHistory();
  const files = Array.from({ length: 300 }, (_, at) => [`many/${at % 20}/${at}`, `text ${at}\n`]);
  await commit(work, Object.fromEntries(files) as Record<string, string>, "many files");
  const publish = async (...specs: string[]): Promise<void> => {
    await git(work, ["push", "--quiet", repo.ownUrl, ...specs]);
    await git(work, ["push", "--quiet", own, ...specs]);
  };
  await publish("main", "side", "v1");
  const [ours, theirs] = [await clone(repo.url), await clone(own)];

  // Each change with the number of its new objects.
  const changes: [string, number, () => Promise<unknown>][] = [
    ["a file", 5, () => commit(work, { "many/3/3": "changed\n" })],
    ["a new file", 3, () => commit(work, { "top.txt": "new\n" })],
    ["a move", 4, () => git(work, ["mv", "top.txt", "many/top.txt"]).then(() => commit(work, {}))],
    ["a message", 1, () => git(work, ["commit", "--quiet", "--allow-empty", "-m", "empty"])],
    ["a tag", 1, () => git(work, ["tag", "-a", "-m", "two", "v2"])],
    ["a merge", 4, () => git(work, ["merge", "--quiet", "--no-ff", "-m", "merge", "topic-a~1"])],
  ];
  for (const [at, [name, count, change]] of changes.entries()) {
    const version = versions[at % versions.length] ?? [];
    await change();
    await publish("main", "--tags");
    const sent = await countFetched(ours, version, "--tags");
    const expected = await countFetched(theirs, version, "--tags");
    expect([name, sent]).toEqual([name, Math.min(expected, count)]);
    await git(ours, ["fsck", "--strict", "--full"]);
    expect(await git(ours, ["rev-parse", "origin/main"])).toBe(
      await git(work, ["rev-parse", "main"]),
    );
  }
});

it("unreachable objects are not served: history removed by a forced push, deleted branches and tags", async () => {
  const repo = await makeRepo();
  const work = await makeWork();
  await commit(work, { a: "1" });
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  const forced = await commit(work, { "dir/secret": "password\n" });
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  await git(work, ["reset", "--quiet", "--hard", "HEAD~1"]);
  await git(work, ["push", "--quiet", "--force", repo.ownUrl, "main"]);
  await git(work, ["checkout", "--quiet", "-b", "gone"]);
  const branched = await commit(work, { other: "secret\n" });
  await git(work, ["tag", "-a", "-m", "words", "gone-tag"]);
  await git(work, ["push", "--quiet", repo.ownUrl, "gone", "gone-tag"]);
  await git(work, ["push", "--quiet", repo.ownUrl, "--delete", "gone", "gone-tag"]);

  const names = [`${forced}^{tree}`, `${forced}:dir`, `${forced}:dir/secret`, "gone-tag"];
  const oids = (await git(work, ["rev-parse", forced, branched, ...names])).split("\n");
  const copy = await clone(repo.url);
  for (const version of versions) {
    for (const oid of oids) {
      for (const options of [[], ["--depth=1"], ["--filter=blob:none"]]) {
        const args = [...version, "fetch", "--quiet", ...options, repo.url, oid];
        const { code, output } = await tryGit(copy, args);
        expect([code, output]).toEqual([128, expect.stringContaining(`not our ref ${oid}`)]);
      }
    }
  }
  const ask = async (...lines: string[]): Promise<string> => {
    const pkts = lines.map((line) => (line.length + 4).toString(16).padStart(4, "0") + line);
    const response = await fetch(`${repo.url}/git-upload-pack`, {
      method: "POST",
      headers: {
        "Content-Type": "application/x-git-upload-pack-request",
        "Git-Protocol": "version=2",
      },
      body: `${pkts.join("").replace("0005|", "0001")}0000`,
    });
    return response.text();
  };
  expect(await ask("command=fetch\n", "|", "want-ref refs/heads/gone\n", "done\n")).toMatch(
    /^....ERR unknown ref refs\/heads\/gone$/,
  );
  const sizes = await ask(
    "command=object-info\n",
    "|",
    "size\n",
    ...oids.map((oid) => `oid ${oid}`),
  );
  // The length of each line leaves no room for a size.
  for (const oid of oids) expect(sizes).toContain(`002d${oid} `);
  // Reachable objects are served by id.
  const main = await git(work, ["rev-parse", "main"]);
  await git(await clone(repo.url, "--depth=1"), ["fetch", "--quiet", repo.url, main]);
});

it("3,500 refs in one push are accepted, listed, cloned, and fetched one by one", async () => {
  const repo = await makeRepo();
  const source = await makeManyRefs(3500);
  await git(source, ["push", "--quiet", "--mirror", repo.ownUrl]);
  expect(await listRemote(repo.url)).toHaveLength(3502);
  for (const [at, version] of versions.entries()) {
    const copy = await clone(repo.url, ...version, "--mirror");
    await expectMirror(copy, source);
    const before = await listObjects(copy);
    await commit(source, { late: `late ${at}\n` });
    await git(source, ["push", "--quiet", repo.ownUrl, "main"]);
    await git(copy, [...version, "fetch", "--quiet"]);
    expect(await listObjects(copy)).toHaveLength(before.length + 3);
    await expectMirror(copy, source);
  }
});

/** A repository of `count` branches, each with a commit of its own. */
async function makeManyRefs(count: number): Promise<string> {
  const work = await makeWork();
  const root = await commit(work, { a: "1\n" });
  const directory = join(work, ".git");
  const commits = Array.from(
    { length: count },
    (_, at) =>
      `commit refs/heads/last\nmark :${at + 1}\ncommitter A <a@example.com> 1700000000 +0000\n` +
      `data 4\n${String(at).padStart(4, "0")}\nfrom ${root}\n`,
  );
  const marks = join(directory, "marks");
  await git(
    work,
    ["fast-import", "--quiet", "--force", `--export-marks=${marks}`],
    commits.join(""),
  );
  await git(work, ["update-ref", "-d", "refs/heads/last"]);
  // Written directly, because git creates and renames a file for each ref.
  const refs = readFileSync(marks, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(1).split(" "))
    .map(([mark = "", oid = ""]) => `${oid} refs/heads/many/${mark.padStart(4, "0")}`);
  const lines = ["# pack-refs with: peeled fully-peeled sorted ", ...refs.toSorted(byName), ""];
  writeFileSync(join(directory, "packed-refs"), lines.join("\n"));
  return work;
}

const byName = (a: string, b: string): number => (a.slice(41) < b.slice(41) ? -1 : 1);

describe("the objects of a fetch are exactly those requested", () => {
  it("from many packs, as git itself chooses them", async () => {
    const { repo, own } = await publishTwice();
    for (const [at, branch] of ["main", "pages", "left", "topic-b"].entries()) {
      const version = versions[at % versions.length] ?? [];
      const options = [...version, "--bare", "--single-branch", `--branch=${branch}`];
      const ours = await clone(repo.url, ...options);
      const theirs = await clone(own, ...options);
      expect(await listObjects(ours)).not.toEqual([]);
      expectSameLines(await listObjects(ours), await listObjects(theirs));
    }
  });

  // Each depth and each filter, alone and combined; git's own server is the reference.
  it("for every depth and every filter, alone and combined", async () => {
    const { repo, own } = await publishTwice();
    const all = await listObjects(await clone(own, "--bare"));
    const cuts = [
      ["--depth=1"],
      ["--depth=3", "--no-single-branch"],
      ["--shallow-since=2023-11-15T10:00:00Z"],
      ["--shallow-exclude=v1"],
      ["--filter=blob:none"],
      ["--filter=blob:limit=100"],
      ["--filter=tree:0"],
      ["--filter=tree:2"],
      ["--filter=combine:blob:limit=50+tree:3"],
      ["--depth=2", "--filter=blob:none"],
    ];
    for (const cut of cuts) {
      // Git's own server is the reference.
      const theirs = await clone(own, "--bare", ...cut);
      const expected = await listObjects(theirs);
      expect(expected.length).toBeLessThan(all.length);
      for (const version of [versions[0] ?? [], versions[2] ?? []]) {
        const ours = await clone(repo.url, ...version, "--bare", ...cut);
        expectSameLines(await listObjects(ours), expected);
        expect(readBoundary(ours), cut.join(" ")).toEqual(readBoundary(theirs));
      }
    }
  });

  const readBoundary = (directory: string): string[] => {
    const file = join(directory, "shallow");
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").toSorted() : [];
  };

  /** The same history on the service, in many packs, and on git's own server. */
  async function publishTwice(): Promise<{ repo: Repo; own: string }> {
    const repo = await makeRepo();
    const own = await makeOwn();
    const source = await makeHistory();
    for (const spec of ["main~9:refs/heads/main", "main~2:refs/heads/main", "main", "pages"]) {
      await git(source, ["push", "--quiet", repo.ownUrl, spec]);
    }
    await git(source, ["push", "--quiet", "--mirror", repo.ownUrl]);
    await git(source, ["push", "--quiet", "--mirror", own]);
    return { repo, own };
  }
});
