import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { ACCESS, repositories } from "../../src/db/schema/index.ts";
import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";
import { networkPrefix } from "../../src/storage/keys.ts";
import { type Answer, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { eventsOf } from "../support/events.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";

const NULL = "0".repeat(40);

/** A commit of one file, and packs of it: whole, and without the file. */
function makeCommit(text: string): { oid: string; pack: Uint8Array; holed: Uint8Array } {
  const build = (hasBlob: boolean): { oid: string; pack: Uint8Array } => {
    const builder = new PackBuilder(codec);
    const blob = new PackBuilder(codec).add("blob", encodeUtf8(text));
    if (hasBlob) builder.add("blob", encodeUtf8(text));
    const tree = builder.add("tree", joinBytes([encodeUtf8("100644 file\0"), oidBytes(blob)]));
    const who = "A <a@example.com> 1700000000 +0000";
    const oid = builder.add(
      "commit",
      encodeUtf8(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${text}\n`),
    );
    return { oid, pack: builder.build() };
  };
  return { ...build(true), holed: build(false).pack };
}

/** Pushes a pack to `ref`, which is not there yet. */
function push(
  as: TestUser,
  repo: TestRepo,
  oid: string,
  pack: Uint8Array,
  ref = "refs/heads/main",
): Promise<Answer> {
  const line = `${NULL} ${oid} ${ref}\0report-status`;
  const head = encodeUtf8(`${(line.length + 4).toString(16).padStart(4, "0")}${line}0000`);
  return visit("POST", `/${repo.owner}/${repo.name}.git/git-receive-pack`, {
    as,
    headers: { "Content-Type": "application/x-git-receive-pack-request" },
    body: joinBytes([head, pack]) as Uint8Array<ArrayBuffer>,
  });
}

const refsOf = async (repo: TestRepo) =>
  (await env.REPOSITORY.getByName(String(repo.id)).snapshot()).refs;

const filesOf = async (repo: TestRepo) =>
  (await env.PACKS.list({ prefix: networkPrefix(repo.id) })).objects.map(({ key }) => key);

describe("a push", () => {
  it("moves the ref, brings the row up to date, and is told once", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("first");
    const { body } = await push(owner, repo, oid, pack);

    expect(body).toContain("ok refs/heads/main");
    expect(await refsOf(repo)).toEqual([{ name: "refs/heads/main", oid, peeledOid: null }]);
    expect((await filesOf(repo)).map((key) => key.split(".")[1])).toEqual([
      "idx",
      "pack",
      "sidecar",
    ]);
    const [row] = await db.select().from(repositories).where(eq(repositories.id, repo.id));
    expect(row).toMatchObject({ isEmpty: false, sizeBytes: pack.length, defaultBranch: "main" });
    expect(await eventsOf(repo)).toMatchObject([
      {
        type: "repository.pushed",
        actorId: owner.id,
        payload: { refCount: 1, updates: [{ ref: "refs/heads/main", before: null, after: oid }] },
      },
    ]);
    await vi.waitFor(async () => {
      const object = env.REPOSITORY.getByName(String(repo.id));
      expect(await object.listOutbox()).toEqual([]);
    });
  });

  it("is for those who may write: not for a collaborator who may read", async () => {
    const owner = await make.user();
    const [reader, writer] = [await make.user(), await make.user()];
    const repo = await make.repo(owner, { isPrivate: true });
    await make.collaborator(repo, reader, ACCESS.read);
    await make.collaborator(repo, writer, ACCESS.write);
    const { oid, pack } = makeCommit("by whom");

    expect((await push(reader, repo, oid, pack)).status).toBe(403);
    expect((await push(await make.user(), repo, oid, pack)).status).toBe(404);
    expect([await refsOf(repo), await filesOf(repo)]).toEqual([[], []]);
    expect((await push(writer, repo, oid, pack)).body).toContain("ok refs/heads/main");
  });

  it("leaves no ref, no file and no event where its pack leads to what is missing", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, holed } = makeCommit("with a hole");
    const { body } = await push(owner, repo, oid, holed);

    expect(body).toContain("is missing");
    expect(body).toContain("ng refs/heads/main unpacker error");
    expect([await refsOf(repo), await filesOf(repo), await eventsOf(repo)]).toEqual([[], [], []]);
  });

  // Else an id alone would be enough to take a file out of somebody's private repository.
  it("may not lean on objects of another repository", async () => {
    const owner = await make.user();
    const [full, empty] = [await make.repo(owner), await make.repo(owner)];
    const { oid, pack, holed } = makeCommit("elsewhere");
    await push(owner, full, oid, pack);
    expect((await push(owner, empty, oid, holed)).body).toContain("is missing");
    // The same hole is none where the file is.
    expect((await push(owner, full, oid, holed, "refs/heads/again")).body).toContain("unpack ok");
    expect(await refsOf(empty)).toEqual([]);
  });

  it("takes its pack away again where every ref is refused", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("hidden");
    const { body } = await push(owner, repo, oid, pack, "refs/pull/1/head");
    expect(body).toContain("ng refs/pull/1/head hidden ref");
    await vi.waitFor(async () => expect(await filesOf(repo)).toEqual([]));
    expect(await eventsOf(repo)).toEqual([]);
  });
});
