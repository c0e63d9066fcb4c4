import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { ACCESS, repositories } from "../../src/db/schema/index.ts";
import { db } from "../support/db.ts";
import { eventsOf } from "../support/events.ts";
import { make } from "../support/make.ts";
import { filesOf, makeCommit, push, refsOf } from "../support/push.ts";

describe("a push", () => {
  it("updates the ref and the repository's row, and records one event", async () => {
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
      const object = env.REPOSITORY.getByName(repo.objectName);
      expect(await object.listOutbox()).toEqual([]);
    });
  });

  it("is allowed with write access, and refused for a collaborator with read access", async () => {
    const owner = await make.user();
    const [reader, writer] = [await make.user(), await make.user()];
    const repo = await make.repo(owner, { isPrivate: true });
    await make.collaborator(repo, reader, ACCESS.read);
    await make.collaborator(repo, writer, ACCESS.write);
    const { oid, pack } = makeCommit("by whom");

    // A reader may begin a push, since it may open a pull request.
    expect((await push(reader, repo, oid, pack)).body).toContain(
      "ng refs/heads/main User permission denied for writing.",
    );
    expect((await push(await make.user(), repo, oid, pack)).status).toBe(404);
    expect([await refsOf(repo), await filesOf(repo)]).toEqual([[], []]);
    expect((await push(writer, repo, oid, pack)).body).toContain("ok refs/heads/main");
  });

  it("leaves no ref, no file and no event if its pack references a missing object", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, holed } = makeCommit("with a hole");
    const { body } = await push(owner, repo, oid, holed);

    expect(body).toContain("is missing");
    expect(body).toContain("ng refs/heads/main unpacker error");
    expect([await refsOf(repo), await filesOf(repo), await eventsOf(repo)]).toEqual([[], [], []]);
  });

  // SECURITY: otherwise an oid alone would suffice to read a file of another's private repository.
  it("may not reference objects that only another repository has", async () => {
    const owner = await make.user();
    const [full, empty] = [await make.repo(owner), await make.repo(owner)];
    const { oid, pack, holed } = makeCommit("elsewhere");
    await push(owner, full, oid, pack);
    expect((await push(owner, empty, oid, holed)).body).toContain("is missing");
    // The same incomplete pack is accepted by the repository that has the file.
    expect((await push(owner, full, oid, holed, "refs/heads/again")).body).toContain("unpack ok");
    expect(await refsOf(empty)).toEqual([]);
  });

  // Refs are updated before the database; the next push repairs a missed update of the row.
  it("repairs a stale repository row", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const [first, second] = [makeCommit("first"), makeCommit("second")];
    await push(owner, repo, first.oid, first.pack, "refs/heads/trunk");
    const isThis = eq(repositories.id, repo.id);
    const row = () => db.select().from(repositories).where(isThis);
    await db.update(repositories).set({ isEmpty: true, sizeBytes: 0 }).where(isThis);
    await push(owner, repo, second.oid, second.pack, "refs/heads/topic");
    const sizeBytes = first.pack.length + second.pack.length;
    expect(await row()).toMatchObject([{ defaultBranch: "trunk", isEmpty: false, sizeBytes }]);
  });

  it("deletes its pack if every ref is refused", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("hidden");
    const { body } = await push(owner, repo, oid, pack, "refs/pull/1/head");
    expect(body).toContain("ng refs/pull/1/head hidden ref");
    await vi.waitFor(async () => expect(await filesOf(repo)).toEqual([]));
    expect(await eventsOf(repo)).toEqual([]);
  });
});
