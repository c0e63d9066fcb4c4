import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import type { PackRecord, Push, RefUpdate } from "../../src/storage/repository-object.ts";
import { freshName } from "../support/make.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const C = "c".repeat(40);
const MAIN = "refs/heads/main";

/** An object that nothing was pushed to. */
const fresh = () => env.REPOSITORY.getByName(freshName("repository"));

const update = (ref: string, oldOid: string | null, newOid: string | null): RefUpdate => ({
  ref,
  oldOid,
  newOid,
  peeledOid: null,
});

const pack = (name: string, objectCount = 3): PackRecord => ({
  name,
  checksum: A,
  packBytes: 100,
  idxBytes: 10,
  sidecarBytes: 20,
  objectCount,
});

const push = (updates: RefUpdate[], fields: Partial<Push> = {}): Push => ({
  id: freshName("push"),
  actorId: 7,
  at: 1000,
  packs: [],
  updates,
  isAtomic: false,
  defaultBranch: "main",
  ...fields,
});

describe("commitPush", () => {
  it("makes refs, lists their packs, and says so in the reflog and the outbox", async () => {
    const object = fresh();
    expect(await object.snapshot()).toEqual({ version: 0, head: null, refs: [], packs: [] });
    const tag = { ...update("refs/tags/v1", null, B), peeledOid: A };
    const first = push([update(MAIN, null, A), tag], { packs: [pack("one")] });
    const outcome = await object.commitPush(first);

    expect(outcome).toEqual({
      outcomes: [
        { kind: "updated", ref: MAIN },
        { kind: "updated", ref: "refs/tags/v1" },
      ],
      arePacksKept: true,
      head: MAIN,
      hasRefs: true,
      packBytes: 100,
    });
    expect(await object.snapshot()).toEqual({
      version: 1,
      head: MAIN,
      refs: [
        { name: MAIN, oid: A, peeledOid: null },
        { name: "refs/tags/v1", oid: B, peeledOid: A },
      ],
      packs: [pack("one")],
    });
    expect(await object.listOutbox()).toMatchObject([{ pushId: first.id, actorId: 7, at: 1000 }]);
    await object.settle(first.id);
    expect(await object.listOutbox()).toEqual([]);
    await runInDurableObject(object, (_, state) => {
      expect(state.storage.sql.exec("select ref, old_oid, new_oid from reflog").toArray()).toEqual([
        { ref: MAIN, old_oid: null, new_oid: A },
        { ref: "refs/tags/v1", old_oid: null, new_oid: B },
      ]);
    });
  });

  it("moves a ref only from what the pusher saw, and lists no pack for one that it refuses", async () => {
    const object = fresh();
    await object.commitPush(push([update(MAIN, null, A)]));
    for (const seen of [null, C]) {
      const stale = push([update(MAIN, seen, B)], { packs: [pack("unused")] });
      expect(await object.commitPush(stale)).toMatchObject({
        outcomes: [{ kind: "stale", ref: MAIN, actualOid: A }],
        arePacksKept: false,
      });
    }
    const snapshot = await object.snapshot();
    expect(snapshot).toMatchObject({ version: 1, refs: [{ oid: A }], packs: [] });
  });

  it("lets one of many win that move a ref at once", async () => {
    const object = fresh();
    await object.commitPush(push([update(MAIN, null, A)]));
    const outcomes = await Promise.all(
      [B, C, B, C, B].map((oid) => object.commitPush(push([update(MAIN, A, oid)]))),
    );
    const kinds = outcomes.flatMap((outcome) => outcome.outcomes.map(({ kind }) => kind));
    expect(kinds.filter((kind) => kind === "updated")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "stale")).toHaveLength(4);
    expect((await object.snapshot()).version).toBe(2);
  });

  it("makes the good updates of a push with a bad one, and none if it is atomic", async () => {
    const object = fresh();
    await object.commitPush(push([update(MAIN, null, A)]));
    const updates = [update("refs/heads/next", null, B), update(MAIN, C, B)];
    const packs = [pack("two")];
    const atomic = await object.commitPush(push(updates, { isAtomic: true, packs }));
    expect(atomic).toMatchObject({
      outcomes: [{ kind: "undone", ref: "refs/heads/next" }, { kind: "stale" }],
      arePacksKept: false,
    });
    expect(await object.snapshot()).toMatchObject({
      version: 1,
      refs: [{ name: MAIN }],
      packs: [],
    });

    const loose = await object.commitPush(push(updates, { packs }));
    expect(loose).toMatchObject({
      outcomes: [{ kind: "updated" }, { kind: "stale" }],
      arePacksKept: true,
    });
  });

  it("refuses names that lie inside of one another, unless the other goes in the same push", async () => {
    const object = fresh();
    await object.commitPush(push([update(MAIN, null, A), update("refs/heads/a/b", null, A)]));
    const clashes = ["refs/heads/a", "refs/heads/a/b/c", "refs/heads/main/x"];
    const refused = await object.commitPush(push(clashes.map((ref) => update(ref, null, B))));
    expect(refused.outcomes.map(({ kind }) => kind)).toEqual(["conflict", "conflict", "conflict"]);
    const near = push([update("refs/heads/a.b", null, B), update("refs/heads/a0", null, B)]);
    expect((await object.commitPush(near)).outcomes.map(({ kind }) => kind)).toEqual([
      "updated",
      "updated",
    ]);
    const swap = push([update("refs/heads/a", null, B), update("refs/heads/a/b", A, null)]);
    expect((await object.commitPush(swap)).outcomes).toEqual([
      { kind: "updated", ref: "refs/heads/a" },
      { kind: "updated", ref: "refs/heads/a/b" },
    ]);
  });

  it("keeps the default branch, and lets any other go", async () => {
    const object = fresh();
    await object.commitPush(push([update(MAIN, null, A), update("refs/heads/x", null, A)]));
    const both = push([update(MAIN, A, null), update("refs/heads/x", A, null)]);
    expect((await object.commitPush(both)).outcomes).toEqual([
      { kind: "default-branch", ref: MAIN },
      { kind: "updated", ref: "refs/heads/x" },
    ]);
    await object.setHead("refs/heads/y");
    expect((await object.commitPush(push([update(MAIN, A, null)]))).hasRefs).toBe(false);
  });

  it("lets a HEAD that leads nowhere take the first branch that comes", async () => {
    const object = fresh();
    const tagged = await object.commitPush(push([update("refs/tags/v1", null, A)]));
    expect(tagged.head).toBe(MAIN);
    const branched = push([update("refs/heads/trunk", null, A), update("refs/heads/b", null, A)]);
    expect((await object.commitPush(branched)).head).toBe("refs/heads/trunk");
    // It is born now, and stays.
    expect((await object.commitPush(push([update(MAIN, null, A)]))).head).toBe("refs/heads/trunk");
  });
});

describe("replacePacks", () => {
  it("puts a pack in the place of those that it holds, and only while all of them are listed", async () => {
    const object = fresh();
    for (const [at, name] of ["p1", "p2", "p3", "p4"].entries()) {
      const change = update(`refs/heads/${at}`, null, A);
      await object.commitPush(push([change], { packs: [pack(name)] }));
    }
    expect(await object.replacePacks(["p2", "p3"], [pack("merged", 6)])).toEqual({
      kind: "replaced",
    });
    const names = async () => (await object.snapshot()).packs.map(({ name }) => name);
    expect(await names()).toEqual(["p1", "merged", "p4"]);
    expect(await object.replacePacks(["p3", "p4"], [pack("late")])).toEqual({ kind: "stale" });
    expect(await names()).toEqual(["p1", "merged", "p4"]);
  });
});

describe("destroy", () => {
  it("leaves nothing", async () => {
    const object = fresh();
    await object.commitPush(push([update(MAIN, null, A)], { packs: [pack("one")] }));
    await object.destroy();
    expect(await object.snapshot()).toEqual({ version: 0, head: null, refs: [], packs: [] });
  });
});
