import { createCipheriv, createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import {
  admin,
  type Caller,
  callApi,
  freshName,
  makeRepo,
  makeToken,
  makeUser,
  type Repo,
  serviceUrl,
  urlAs,
} from "../support/forge.ts";
import { ENVIRONMENT, makeDirectory, tryGit } from "../support/git.ts";
import type { Outcome } from "../support/run-program.ts";
import { findGitLfs } from "../support/git-lfs.ts";

const MEDIA_TYPE = "application/vnd.git-lfs+json";

/** Larger than one part of an upload. */
const LARGE_BYTES = 30_000_001;

let path = "";
beforeAll(() => {
  path = `${findGitLfs()}:${ENVIRONMENT.PATH}`;
});

/** Runs git with its extension for large files, as `git lfs install` sets it up. */
const tryLfs = (directory: string, ...args: string[]): Promise<Outcome> => {
  const filter = [
    "filter.lfs.clean=git-lfs clean -- %f",
    "filter.lfs.smudge=git-lfs smudge -- %f",
    "filter.lfs.process=git-lfs filter-process",
    "filter.lfs.required=true",
    "lfs.locksverify=true",
  ];
  const options = filter.flatMap((each) => ["-c", each]);
  return tryGit(directory, [...options, ...args], "", { PATH: path, HOME: directory });
};

async function lfs(directory: string, ...args: string[]): Promise<string> {
  const { code, output, stdout } = await tryLfs(directory, ...args);
  if (code !== 0) throw new Error(`git ${args.join(" ")}: ${output}`);
  return stdout.trim();
}

/** Incompressible bytes, different for each seed. */
const noise = (bytes: number, seed: number): Buffer =>
  createCipheriv("aes-128-ctr", Buffer.alloc(16, seed), Buffer.alloc(16)).update(
    Buffer.alloc(bytes),
  );

const basicOf = ({ name, password }: Caller): string => `Basic ${btoa(`${name}:${password}`)}`;

const oidOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Compares hashes of files, because a diff of megabytes is useless and slow. */
const expectSame = (directory: string, files: Record<string, Buffer>): void => {
  for (const [name, bytes] of Object.entries(files)) {
    expect([name, oidOf(readFileSync(join(directory, name)))]).toEqual([name, oidOf(bytes)]);
  }
};

/** A working tree that tracks `*.bin` with Git LFS, with the remote `repo`. */
async function makeWork(repo: Repo, url?: string): Promise<string> {
  const work = makeDirectory();
  await lfs(work, "init", "--quiet", "--initial-branch=main");
  await lfs(work, "lfs", "install", "--local");
  await lfs(work, "remote", "add", "origin", url ?? (await tokenUrl(repo)));
  await lfs(work, "lfs", "track", "*.bin");
  return work;
}

/**
 * The URL of a repository with a token of its owner: a password would be hashed for each request.
 */
async function tokenUrl(repo: Repo): Promise<string> {
  const { password } = new URL(repo.ownUrl);
  const owner = { name: repo.owner, password: decodeURIComponent(password) };
  return urlAs(repo.url, owner.name, await makeToken(owner, "write:repository"));
}

async function commitFiles(work: string, files: Record<string, Buffer | string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), content);
  }
  await lfs(work, "add", "--all");
  await lfs(work, "commit", "--quiet", "-m", "large files");
}

async function cloneFrom(url: string, ...options: string[]): Promise<string> {
  const directory = makeDirectory();
  await lfs(directory, "clone", "--quiet", ...options, url, "clone");
  return join(directory, "clone");
}

/** Counts the files below a directory that are more than a pointer. */
const countFiles = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    .length;

async function makePushed(fields: object = {}) {
  const owner = await makeUser();
  const repo = await makeRepo(owner, fields);
  const work = await makeWork(repo);
  const files = { "a.bin": noise(100_000, 1), "sub/b c.bin": noise(5, 2) };
  await commitFiles(work, files);
  await lfs(work, "push", "--quiet", "-u", "origin", "main");
  return { owner, repo, work, files };
}

describe("git-lfs", () => {
  it(
    "pushes files of any size, and clones, fetches and checks them",
    { timeout: 120_000 },
    async () => {
      const owner = await makeUser();
      const repo = await makeRepo(owner);
      const work = await makeWork(repo);
      const files = {
        "empty.bin": Buffer.alloc(0),
        "one.bin": noise(1, 1),
        "dir/ü 日本.bin": noise(70_000, 2),
        "large.bin": noise(LARGE_BYTES, 3),
      };
      await commitFiles(work, { ...files, "plain.txt": "no large file\n" });
      const pushed = await tryLfs(work, "push", "-u", "origin", "main");
      expect([pushed.code, pushed.output]).toEqual([0, expect.stringContaining("main -> main")]);
      expect(pushed.output).not.toMatch(/warning|locking API/i);

      const copy = await cloneFrom(repo.url);
      expectSame(copy, files);
      expect(readFileSync(join(copy, "plain.txt"), "utf8")).toBe("no large file\n");
      expect(await lfs(copy, "status", "--porcelain")).toBe("");
      expect(await lfs(copy, "lfs", "fsck")).toContain("Git LFS fsck OK");
      expect((await lfs(copy, "lfs", "ls-files")).split("\n")).toHaveLength(3);
      expect(await lfs(copy, "cat-file", "-p", "main:large.bin")).toContain(`size ${LARGE_BYTES}`);

      const next = { "large.bin": noise(9_000_000, 4), "new.bin": noise(10, 5) };
      await commitFiles(work, next);
      await lfs(work, "push", "--quiet");
      await lfs(copy, "pull", "--quiet");
      expectSame(copy, { ...files, ...next });
      // Earlier versions are still available for a checkout of an older commit.
      await lfs(copy, "checkout", "--quiet", "HEAD~1");
      expectSame(copy, files);
      const bare = await cloneFrom(repo.url, "--mirror");
      await lfs(bare, "lfs", "fetch", "--all");
      expect(countFiles(join(bare, "lfs/objects"))).toBe(5);
      const record = await callApi<{ size: number }>(owner, "GET", repo.path);
      expect(record.size).toBeGreaterThan((LARGE_BYTES + 9_000_000) / 1024);
    },
  );

  it("resumes the download of a partial file", async () => {
    const { repo, files } = await makePushed();
    const copy = await cloneFrom(repo.url, "--no-checkout");
    const oid = oidOf(files["a.bin"]);
    // As the client leaves it when the connection breaks.
    const partial = join(copy, ".git/lfs/incomplete", `${oid}.part`);
    mkdirSync(dirname(partial), { recursive: true });
    writeFileSync(partial, files["a.bin"]);
    truncateSync(partial, 60_000);
    const trace = await tryGit(copy, ["lfs", "fetch"], "", {
      PATH: path,
      HOME: copy,
      GIT_TRACE: "1",
      GIT_CURL_VERBOSE: "1",
    });
    expect([trace.code, trace.output]).toEqual([0, expect.stringContaining("206 Partial Content")]);
    expect(trace.output).toMatch(/server accepted resume/);
    await lfs(copy, "checkout", "--quiet", "main");
    expectSame(copy, files);
  });

  it(
    "sends many files concurrently, and does not send existing files again",
    { timeout: 120_000 },
    async () => {
      const owner = await makeUser();
      const repo = await makeRepo(owner);
      const work = await makeWork(repo);
      const files = Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => [`${at}.bin`, noise(1000 + at, at)]),
      );
      await commitFiles(work, files);
      await lfs(work, "config", "lfs.concurrenttransfers", "16");
      await lfs(work, "push", "--quiet", "-u", "origin", "main");
      expectSame(await cloneFrom(repo.url), files);
      const objects = Object.values(files).map((bytes) => ({
        oid: oidOf(bytes),
        size: bytes.length,
      }));
      const headers = { Accept: MEDIA_TYPE, Authorization: basicOf(owner) };
      const body = JSON.stringify({ operation: "upload", objects });
      const url = `${repo.url}/info/lfs/objects/batch`;
      const answer = await fetch(url, { method: "POST", headers, body });
      expect(await answer.json()).toEqual({ objects });
    },
  );

  it("pushes a history that was migrated to large files", async () => {
    const owner = await makeUser();
    const repo = await makeRepo(owner);
    const work = makeDirectory();
    await lfs(work, "init", "--quiet", "--initial-branch=main");
    await lfs(work, "lfs", "install", "--local");
    await lfs(work, "remote", "add", "origin", repo.ownUrl);
    const versions = [noise(200_000, 1), noise(200_000, 2), noise(200_000, 3)] as const;
    for (const version of versions) await commitFiles(work, { "old.dat": version });
    await lfs(work, "lfs", "migrate", "import", "--include=*.dat", "--everything", "--yes");
    await lfs(work, "push", "--quiet", "-u", "origin", "main");
    const copy = await cloneFrom(repo.url);
    expectSame(copy, { "old.dat": versions[2] });
    expect(await lfs(copy, "cat-file", "-p", "main~2:old.dat")).toContain(oidOf(versions[0]));
    await lfs(copy, "checkout", "--quiet", "main~2");
    expectSame(copy, { "old.dat": versions[0] });
    // Each of the three files once, and the pointers to them.
    const { size } = await callApi<{ size: number }>(owner, "GET", repo.path);
    expect([size > 585, size < 600]).toEqual([true, true]);
  });

  it("pushes and fetches with a token, within its scopes", async () => {
    const owner = await makeUser();
    const repo = await makeRepo(owner, { private: true });
    const write = await makeToken(owner, "write:repository");
    const read = await makeToken(owner, "read:repository");
    const work = await makeWork(repo, urlAs(repo.url, owner.name, write));
    await commitFiles(work, { "a.bin": noise(1000, 1) });
    await lfs(work, "push", "--quiet", "-u", "origin", "main");
    expectSame(await cloneFrom(urlAs(repo.url, "oauth2", read)), { "a.bin": noise(1000, 1) });
    await lfs(work, "remote", "set-url", "origin", urlAs(repo.url, owner.name, read));
    await commitFiles(work, { "b.bin": noise(1000, 2) });
    const { code, output } = await tryLfs(work, "lfs", "push", "--all", "origin");
    expect([code === 0, output]).toEqual([false, expect.stringContaining("Forbidden")]);
  });

  // As CI systems check out: the credential is a header that git and its extension add to each
  // request.
  it.each(["password", "token"])(
    "pushes and fetches where every request has an Authorization header by configuration: a %s",
    async (kind) => {
      const owner = await makeUser();
      const repo = await makeRepo(owner, { private: true });
      const secret = kind === "token" ? await makeToken(owner, "write:repository") : owner.password;
      const header = `Authorization: ${basicOf({ ...owner, password: secret })}`;
      const asConfigured = ["-c", `http.extraHeader=${header}`];
      const work = await makeWork(repo, repo.url);
      const files = { "a.bin": noise(100_000, 1), "b.bin": noise(5, 2) };
      await commitFiles(work, files);
      await lfs(work, ...asConfigured, "push", "--quiet", "-u", "origin", "main");

      const parent = makeDirectory();
      await lfs(parent, ...asConfigured, "clone", "--quiet", repo.url, "clone");
      const copy = join(parent, "clone");
      expectSame(copy, files);
      await lfs(copy, "lfs", "install", "--local");
      await commitFiles(work, { "c.bin": noise(10, 3) });
      await lfs(work, ...asConfigured, "push", "--quiet");
      await lfs(copy, ...asConfigured, "pull", "--quiet");
      expectSame(copy, { ...files, "c.bin": noise(10, 3) });
      expect(await lfs(copy, "lfs", "fsck")).toContain("Git LFS fsck OK");
    },
  );

  it("sends no file to a stranger, and accepts no file from a reader", async () => {
    const { owner, repo } = await makePushed({ private: true });
    const stranger = await makeUser();
    const reader = await makeUser();
    const as = ({ name, password }: Caller) => urlAs(repo.url, name, password);
    const empty = makeDirectory();
    await lfs(empty, "init", "--quiet");
    for (const url of [repo.url, as(stranger)]) {
      const { code, output } = await tryLfs(empty, "-c", `lfs.url=${url}/info/lfs`, "lfs", "locks");
      expect([url, code === 0, output]).toEqual([
        url,
        false,
        expect.stringMatching(/Authorization|Authentication|not found|credentials/i),
      ]);
    }
    await callApi(owner, "PATCH", repo.path, { private: false });
    const work = await makeWork(repo, as(reader));
    await commitFiles(work, { "mine.bin": noise(1000, 9) });
    const { code, output } = await tryLfs(work, "push", "origin", "HEAD:refs/heads/mine");
    expect([code === 0, output]).toEqual([
      false,
      expect.stringMatching(/may not|denied|Authori[sz]ation|403/i),
    ]);
    const batch = await fetch(`${repo.url}/info/lfs/objects/batch`, {
      method: "POST",
      headers: { Accept: MEDIA_TYPE },
      body: JSON.stringify({
        operation: "download",
        objects: [{ oid: oidOf(noise(1000, 9)), size: 1000 }],
      }),
    });
    expect(await batch.json()).toMatchObject({ objects: [{ error: { code: 404 } }] });
  });

  it("pushes a pointer without its file: the service accepts it, and has no file", async () => {
    const { repo } = await makePushed();
    const work = await makeWork(repo);
    const file = noise(1000, 8);
    await lfs(work, "fetch", "--quiet");
    await lfs(work, "reset", "--quiet", "--hard", "origin/main");
    await commitFiles(work, { "missing.bin": file });
    await lfs(work, "push", "--quiet", "--no-verify", "origin", "HEAD:main");
    const { code, output } = await tryLfs(makeDirectory(), "clone", "--quiet", repo.url, "clone");
    expect([code === 0, output]).toEqual([
      false,
      expect.stringMatching(/Object does not exist|404/),
    ]);
    const answer = await fetch(`${serviceUrl}/api/v1${repo.path}/media/missing.bin`);
    expect(await answer.text()).toContain(`oid sha256:${oidOf(file)}`);
    await lfs(work, "lfs", "push", "--all", "origin");
    expectSame(await cloneFrom(repo.url), { "missing.bin": file });
  });

  it("refuses a file whose content does not match its oid, and the client reports it", async () => {
    const { repo, owner } = await makePushed();
    const oid = oidOf(noise(1000, 20));
    const headers = { Authorization: basicOf(owner) };
    const put = (body: Buffer, size = 1000) =>
      fetch(`${repo.url}/info/lfs/objects/${oid}/${size}`, {
        method: "PUT",
        headers,
        body: new Uint8Array(body),
      });
    const refused = await put(noise(1000, 21));
    expect([refused.status, refused.headers.get("content-type")]).toEqual([422, MEDIA_TYPE]);
    expect((await put(noise(999, 20))).status).toBe(422);
    expect((await put(noise(1001, 20), 1001)).status).toBe(422);
    const get = () => fetch(`${repo.url}/info/lfs/objects/${oid}`);
    expect((await get()).status).toBe(404);
    expect((await put(noise(1000, 20))).status).toBe(200);
    const got = await get();
    expect(oidOf(new Uint8Array(await got.arrayBuffer()))).toBe(oid);
  });

  it("finds the large files of the parent in its fork, but not those of the fork in the parent", async () => {
    const { owner, repo, files } = await makePushed();
    const forker = await makeUser();
    const name = freshName("fork");
    await callApi(forker, "POST", `${repo.path}/forks`, { name });
    const forkUrl = `${serviceUrl}/${forker.name}/${name}.git`;
    const copy = await cloneFrom(urlAs(forkUrl, forker.name, forker.password));
    expectSame(copy, files);
    await lfs(copy, "lfs", "install", "--local");
    await commitFiles(copy, { "own.bin": noise(3000, 30) });
    await lfs(copy, "push", "--quiet", "origin", "main");
    const oid = oidOf(noise(3000, 30));
    expect((await fetch(`${forkUrl}/info/lfs/objects/${oid}`)).status).toBe(200);
    expect((await fetch(`${repo.url}/info/lfs/objects/${oid}`)).status).toBe(404);
    await callApi(owner, "DELETE", repo.path);
    expectSame(await cloneFrom(forkUrl), { ...files, "own.bin": noise(3000, 30) });
  });
});

describe("git lfs lock", () => {
  it("protects a file from others until it is unlocked, if need be by force", async () => {
    const { owner, repo, work } = await makePushed();
    const lock = await lfs(work, "lfs", "lock", "a.bin");
    expect(lock).toContain("Locked a.bin");
    expect(await lfs(work, "lfs", "locks")).toMatch(
      new RegExp(`a\\.bin\\s+${owner.name}\\s+ID:\\d+`),
    );
    expect((await tryLfs(work, "lfs", "lock", "a.bin")).output).toMatch(
      /already created lock|Lock exists/i,
    );
    await lfs(work, "lfs", "lock", "sub/b c.bin");
    expect(await lfs(work, "lfs", "locks", "--path=sub/b c.bin")).toContain("sub/b c.bin");
    expect(await lfs(work, "lfs", "locks", "--verify")).toMatch(/O a\.bin/);
    // The owner of the lock may push.
    await commitFiles(work, { "a.bin": noise(10, 40) });
    await lfs(work, "push", "--quiet");

    const theirs = await cloneFrom(urlAs(repo.url, admin.name, admin.password));
    await lfs(theirs, "lfs", "install", "--local");
    await commitFiles(theirs, { "a.bin": noise(11, 41) });
    const refused = await tryLfs(theirs, "push");
    expect([refused.code === 0, refused.output]).toEqual([
      false,
      expect.stringMatching(new RegExp(`a\\.bin - ${owner.name}`)),
    ]);
    const unlock = await tryLfs(theirs, "lfs", "unlock", "a.bin");
    expect([unlock.code === 0, unlock.output]).toEqual([
      false,
      expect.stringContaining("only force takes it away"),
    ]);
    await lfs(theirs, "lfs", "unlock", "--force", "a.bin");
    await lfs(theirs, "push", "--quiet");
    expect(await lfs(work, "lfs", "locks")).not.toContain("a.bin");
    await lfs(work, "lfs", "unlock", "sub/b c.bin");
    expect(await lfs(work, "lfs", "locks")).toBe("");
  });
});
