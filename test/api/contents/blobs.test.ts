import { describe, expect, it } from "vitest";

import { disableCode } from "../../support/disable-code.ts";
import { call } from "../../support/call.ts";
import { makeFiles } from "../../support/files.ts";
import { freshName, make, type TestRepo } from "../../support/make.ts";
import { makeCommit, push, pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const BYTES = Uint8Array.from({ length: 10_000 }, (_, at) => (at * 7919) % 256);

const LFS_OID = "ab".repeat(32);
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${LFS_OID}\nsize 12345\n`;

const blobsOf = ({ owner, name }: TestRepo): string => `/repos/${owner}/${name}/git/blobs`;

async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const made = makeFiles({ "a/bytes": BYTES, empty: "", pointer: POINTER });
  await push(owner, repo, made.oid, made.pack);
  return { owner, repo, made };
}

describe("GET /repos/{owner}/{repo}/git/blobs/{sha}", () => {
  it("returns the blob in base64 without line breaks", async () => {
    const { repo, made } = await makePushed();
    const sha = made.oids["a/bytes"] ?? "";
    const { status, body } = await call("GET", `${blobsOf(repo)}/${sha}`);
    expect([status, body]).toEqual([
      200,
      {
        content: btoa(String.fromCharCode(...BYTES)),
        encoding: "base64",
        url: `https://forge.example/api/v1${blobsOf(repo)}/${sha}`,
        sha,
        size: 10_000,
      },
    ]);
    const upper = await call("GET", `${blobsOf(repo)}/${sha.toUpperCase()}`);
    expect(upper.body).toEqual(body);
    const empty = await call("GET", `${blobsOf(repo)}/${made.oids["empty"]}`);
    expect(empty.body).toMatchObject({ content: "", encoding: "base64", size: 0 });
  });

  it("includes the LFS object id and size of a pointer", async () => {
    const { repo, made } = await makePushed();
    const { body } = await call("GET", `${blobsOf(repo)}/${made.oids["pointer"]}`);
    expect(body).toMatchObject({ lfs_oid: LFS_OID, lfs_size: 12345, content: btoa(POINTER) });
  });

  it("omits the content above 10 MiB", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const limit = 10 * 1024 * 1024;
    const made = makeFiles({ most: new Uint8Array(limit), more: new Uint8Array(limit + 1) });
    await push(owner, repo, made.oid, made.pack);
    const most = await call("GET", `${blobsOf(repo)}/${made.oids["most"]}`);
    expect([most.body.size, most.body.content.length]).toEqual([limit, Math.ceil(limit / 3) * 4]);
    const more = await call("GET", `${blobsOf(repo)}/${made.oids["more"]}`);
    expect(more.status).toBe(200);
    expect(more.body).toMatchObject({ size: limit + 1, content: null, encoding: null });
  });

  it("answers 400 with one message, whatever the reason that no blob has the id", async () => {
    const { repo, made } = await makePushed();
    const shas = ["main", "0".repeat(40), made.oid, made.treeOid, "-1", "%00", "x".repeat(5000)];
    for (const sha of shas.concat(made.oids["a/bytes"]?.slice(0, 10) ?? "")) {
      const { status, body } = await call("GET", `${blobsOf(repo)}/${sha}`);
      expect([sha, status, body.message]).toEqual([sha, 400, "sha not found"]);
    }
  });

  // SECURITY: forks share packs, and force-pushed objects stay stored for a while.
  it("returns no blob that is unreachable from the repository's own refs", async () => {
    const { owner, repo } = await makePushed({ isPrivate: false });
    const forker = await make.user();
    const answer = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, {
      as: forker,
      json: { name: freshName("fork") },
    });
    const fork = { owner: forker.name, name: answer.body.name } as TestRepo;
    const [here, there] = [makeCommit(freshName("here")), makeCommit(freshName("there"))];
    await push(owner, repo, here.oid, here.pack, "refs/heads/here");
    await push(forker, fork, there.oid, there.pack, "refs/heads/there");
    const statusAt = async (of: TestRepo, sha: string) =>
      (await call("GET", `${blobsOf(of)}/${sha}`)).status;
    expect(await statusAt(repo, here.blobOid)).toBe(200);
    expect(await statusAt(fork, here.blobOid)).toBe(400);
    expect(await statusAt(fork, there.blobOid)).toBe(200);
    expect(await statusAt(repo, there.blobOid)).toBe(400);
    // A fork created now still lists the pack of `here`, but has no ref that reaches it.
    await pushCommands(owner, repo, [{ ref: "refs/heads/here", old: here.oid }]);
    const late = await make.user();
    const second = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, {
      as: late,
      json: { name: freshName("fork") },
    });
    expect(second.status).toBe(202);
    const lateFork = { owner: late.name, name: second.body.name } as TestRepo;
    for (const of of [repo, lateFork]) expect(await statusAt(of, here.blobOid)).toBe(400);
  });

  it("requires read access to the code", async () => {
    const { owner, repo, made } = await makePushed({ isPrivate: true });
    const path = `${blobsOf(repo)}/${made.oids["empty"]}`;
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", path, { as: await make.user() })).status).toBe(404);
    const token = await make.token(owner, { scopes: "read:user" });
    expect((await call("GET", path, { token })).status).toBe(403);
    expect((await call("GET", path, { as: owner })).status).toBe(200);
    await disableCode(repo);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", path, { as: owner })).status).toBe(200);
  });

  it("costs one Durable Object call, and no bucket read when cached", async () => {
    const { repo, made } = await makePushed();
    const path = `${blobsOf(repo)}/${made.oids["empty"]}`;
    await call("GET", path);
    const { line } = await logged(() => call("GET", path));
    expect(line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
  });
});
