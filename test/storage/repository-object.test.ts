import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { RETIRED_LIFE_MS, UPLOAD_LIFE_MS } from "../../src/storage/retention.ts";
import type {
  PackRecord,
  Push,
  PushedMerge,
  RefUpdate,
} from "../../src/storage/repository-records.ts";
import { freshName } from "../support/make.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const C = "c".repeat(40);
const MAIN = "refs/heads/main";
/** The location that the object passes to its maintenance jobs. */
const LOCATION = { objectName: "nowhere", networkName: "nowhere" };

/** The snapshot of a new repository object. */
const NEW = {
  version: 0,
  head: null,
  refs: [],
  lacksPullRefs: false,
  packs: [],
  collections: 0,
};

/** Nothing is left to ask, and no search for unreachable objects is ever due. */
const REST = {
  goneForkNames: [],
  confirmedForkNames: [],
  inquiry: null,
  policy: { graceMs: 0, intervalMs: null },
};

/** A new repository object. */
const fresh = () => env.REPOSITORY.getByName(freshName("repository"));

/** A new object that an operation names. */
function freshNamed() {
  const objectName = freshName("repository");
  const location = { objectName, networkName: "nowhere" };
  return { location, object: env.REPOSITORY.getByName(objectName) };
}

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
  isConfined: false,
  at: 1000,
  rootUrl: "",
  requiredRefs: [],
  visibility: { visibility: "public", isPrivate: false },
  uploadId: null,
  packs: [],
  updates,
  isAtomic: false,
  defaultBranch: "main",
  ...fields,
});

describe("the merges of a push", () => {
  const merge = (number: number): PushedMerge => ({
    number,
    issueId: number,
    kind: "merge",
    commitOid: B,
    baseOid: A,
    mergeBaseOid: "",
    isAutomatic: true,
    mergerId: 3,
  });

  it("are made all or none, each once", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    const both = push([update(MAIN, A, B)], { merges: [merge(1), merge(2)] });
    const { entry } = await object.commitPush(LOCATION, both);
    expect(entry?.merges).toEqual([merge(1), merge(2)]);
    for (const merges of [[merge(2)], [merge(3), merge(1)]]) {
      const again = await object.commitPush(LOCATION, push([update(MAIN, B, C)], { merges }));
      expect(again).toMatchObject({ outcomes: [{ kind: "merged" }], entry: null });
    }
    const other = push([update(MAIN, B, C)], { merges: [merge(3)] });
    expect((await object.commitPush(LOCATION, other)).outcomes).toMatchObject([
      { kind: "updated" },
    ]);
  });

  it("are not kept by a push that is refused", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    const stale = push([update(MAIN, C, B)], { isAtomic: true, merges: [merge(1)] });
    expect((await object.commitPush(LOCATION, stale)).outcomes).toMatchObject([{ kind: "stale" }]);
    const next = push([update(MAIN, A, B)], { isAtomic: true, merges: [merge(1)] });
    expect((await object.commitPush(LOCATION, next)).outcomes).toMatchObject([{ kind: "updated" }]);
  });
});

describe("commitPush", () => {
  it("creates refs, lists their packs, and records the push in the reflog and the outbox", async () => {
    const object = fresh();
    expect(await object.snapshot()).toEqual(NEW);
    const tag = { ...update("refs/tags/v1", null, B), peeledOid: A };
    const first = push([update(MAIN, null, A), tag], { packs: [pack("one")] });
    const outcome = await object.commitPush(LOCATION, first);

    expect(outcome).toEqual({
      outcomes: [
        { kind: "updated", ref: MAIN },
        { kind: "updated", ref: "refs/tags/v1" },
      ],
      entry: {
        pushId: first.id,
        updateCount: 2,
        actorId: 7,
        isConfined: false,
        at: 1000,
        rootUrl: "",
        visibility: first.visibility,
        packName: "one",
        firstLogId: 1,
      },
      summary: { head: MAIN, hasRefs: true, packBytes: 100 },
      earlierHeads: [],
      arePacksKept: true,
      isMaintenanceDue: false,
    });
    expect(await object.snapshot()).toEqual({
      collections: 0,
      version: 1,
      head: MAIN,
      refs: [
        { name: MAIN, oid: A, peeledOid: null },
        { name: "refs/tags/v1", oid: B, peeledOid: A },
      ],
      lacksPullRefs: false,
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

  // What the push relies on may be reached by this ref alone.
  it.each([
    ["moved", update("refs/heads/topic", B, C)],
    ["was deleted", update("refs/heads/topic", B, null)],
  ])(
    "updates nothing if a required ref %s, also of a push that is not atomic",
    async (_, change) => {
      const object = fresh();
      const topic = "refs/heads/topic";
      await object.commitPush(LOCATION, push([update(MAIN, null, A), update(topic, null, B)]));
      const requiredRefs = [
        { name: MAIN, oid: A },
        { name: topic, oid: B },
      ];
      const fields = { requiredRefs, packs: [pack("late")] };
      const kept = push([update("refs/heads/kept", null, A)], fields);
      expect(await object.commitPush(LOCATION, kept)).toMatchObject({ arePacksKept: true });
      await object.commitPush(LOCATION, push([change]));
      const before = await object.snapshot();

      const late = push([update("refs/heads/late", null, A), update(MAIN, A, B)], fields);
      expect(await object.commitPush(LOCATION, late)).toMatchObject({
        outcomes: [
          { kind: "required-ref-changed", ref: "refs/heads/late" },
          { kind: "required-ref-changed", ref: MAIN },
        ],
        entry: null,
        arePacksKept: false,
      });
      expect(await object.snapshot()).toEqual(before);
    },
  );

  it("lists the branches before a push that creates one, also after later pushes", async () => {
    const object = fresh();
    const topic = "refs/heads/topic";
    const tag = update("refs/tags/v1", null, C);
    await object.commitPush(LOCATION, push([update(MAIN, null, A), update(topic, null, B), tag]));
    const updates = [update(MAIN, A, C), update("refs/heads/new", null, C)];
    const { entry, earlierHeads } = await object.commitPush(LOCATION, push(updates));
    expect(earlierHeads.toSorted()).toEqual([A, B]);

    const later = [update(MAIN, C, B), update(topic, B, null), update("refs/heads/new", C, null)];
    await object.commitPush(LOCATION, push(later));
    await object.commitPush(LOCATION, push([update(topic, null, C)]));
    if (!entry) throw new Error("the push was refused");
    expect((await object.listEarlierHeads(entry)).toSorted()).toEqual([A, B]);
  });

  it("lists no branches for a push that creates none", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    const updates = [update(MAIN, A, B), update("refs/tags/v1", null, C)];
    expect(await object.commitPush(LOCATION, push(updates))).toMatchObject({ earlierHeads: [] });
  });

  it("updates a ref only from the expected old oid, and lists no pack for a refused update", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    for (const oldOid of [null, C]) {
      const stale = push([update(MAIN, oldOid, B)], { packs: [pack("unused")] });
      expect(await object.commitPush(LOCATION, stale)).toMatchObject({
        outcomes: [{ kind: "stale", ref: MAIN, actualOid: A }],
        arePacksKept: false,
      });
    }
    const snapshot = await object.snapshot();
    expect(snapshot).toMatchObject({ version: 1, refs: [{ oid: A }], packs: [] });
  });

  it("applies exactly one of several concurrent updates of a ref", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    const outcomes = await Promise.all(
      [B, C, B, C, B].map((oid) => object.commitPush(LOCATION, push([update(MAIN, A, oid)]))),
    );
    const kinds = outcomes.flatMap((outcome) => outcome.outcomes.map(({ kind }) => kind));
    expect(kinds.filter((kind) => kind === "updated")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "stale")).toHaveLength(4);
    expect((await object.snapshot()).version).toBe(2);
  });

  it("applies the valid updates of a push with an invalid one, and none if it is atomic", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    const updates = [update("refs/heads/next", null, B), update(MAIN, C, B)];
    const packs = [pack("two")];
    const atomic = await object.commitPush(LOCATION, push(updates, { isAtomic: true, packs }));
    expect(atomic).toMatchObject({
      outcomes: [{ kind: "undone", ref: "refs/heads/next" }, { kind: "stale" }],
      arePacksKept: false,
    });
    expect(await object.snapshot()).toMatchObject({
      version: 1,
      refs: [{ name: MAIN }],
      packs: [],
    });

    const loose = await object.commitPush(LOCATION, push(updates, { packs }));
    expect(loose).toMatchObject({
      outcomes: [{ kind: "updated" }, { kind: "stale" }],
      arePacksKept: true,
    });
  });

  it("refuses a name below or above an existing ref, unless the same push deletes that ref", async () => {
    const object = fresh();
    await object.commitPush(
      LOCATION,
      push([update(MAIN, null, A), update("refs/heads/a/b", null, A)]),
    );
    const clashes = ["refs/heads/a", "refs/heads/a/b/c", "refs/heads/main/x"];
    const refused = await object.commitPush(
      LOCATION,
      push(clashes.map((ref) => update(ref, null, B))),
    );
    expect(refused.outcomes.map(({ kind }) => kind)).toEqual(["conflict", "conflict", "conflict"]);
    const near = push([update("refs/heads/a.b", null, B), update("refs/heads/a0", null, B)]);
    expect((await object.commitPush(LOCATION, near)).outcomes.map(({ kind }) => kind)).toEqual([
      "updated",
      "updated",
    ]);
    const swap = push([update("refs/heads/a", null, B), update("refs/heads/a/b", A, null)]);
    expect((await object.commitPush(LOCATION, swap)).outcomes).toEqual([
      { kind: "updated", ref: "refs/heads/a" },
      { kind: "updated", ref: "refs/heads/a/b" },
    ]);
  });

  it("refuses to delete the default branch, and deletes any other", async () => {
    const object = fresh();
    await object.commitPush(
      LOCATION,
      push([update(MAIN, null, A), update("refs/heads/x", null, A)]),
    );
    const both = push([update(MAIN, A, null), update("refs/heads/x", A, null)]);
    expect((await object.commitPush(LOCATION, both)).outcomes).toEqual([
      { kind: "default-branch", ref: MAIN },
      { kind: "updated", ref: "refs/heads/x" },
    ]);
    await object.setHead("refs/heads/y");
    const { summary } = await object.commitPush(LOCATION, push([update(MAIN, A, null)]));
    expect(summary.hasRefs).toBe(false);
  });

  it("updates HEAD when its branch is renamed, and keeps it when another branch is", async () => {
    const object = fresh();
    const [other, trunk] = ["refs/heads/other", "refs/heads/trunk"];
    await object.commitPush(LOCATION, push([update(MAIN, null, A), update(other, null, A)]));
    const rename = (from: string, to: string, headMove?: { from: string; to: string }) =>
      object.commitPush(
        LOCATION,
        push([update(from, A, null), update(to, null, A)], {
          isAtomic: true,
          ...(headMove && { headMove }),
        }),
      );
    const moved = await rename(other, trunk, { from: other, to: trunk });
    expect(moved.summary.head).toBe(MAIN);
    const refused = await rename(MAIN, other);
    expect(refused.outcomes.map(({ kind }) => kind)).toEqual(["default-branch", "undone"]);
    // A refused rename keeps HEAD.
    const taken = await rename(MAIN, trunk, { from: MAIN, to: trunk });
    expect(taken.outcomes.map(({ kind }) => kind)).toEqual(["undone", "stale"]);
    expect((await object.snapshot()).head).toBe(MAIN);
    const done = await rename(MAIN, other, { from: MAIN, to: other });
    expect(done.summary.head).toBe(other);
    expect((await object.snapshot()).refs.map(({ name }) => name)).toEqual([other, trunk]);
  });

  it("points a HEAD without a branch at the first pushed branch", async () => {
    const object = fresh();
    const headAfter = async (...updates: RefUpdate[]) =>
      (await object.commitPush(LOCATION, push(updates))).summary.head;
    expect(await headAfter(update("refs/tags/v1", null, A))).toBe(MAIN);
    const trunk = "refs/heads/trunk";
    expect(await headAfter(update(trunk, null, A), update("refs/heads/b", null, A))).toBe(trunk);
    // Its branch exists now, so HEAD stays.
    expect(await headAfter(update(MAIN, null, A))).toBe(trunk);
  });

  it("refuses a push whose upload expired, and any push to a deleted repository", async () => {
    const object = fresh();
    await object.beginUpload(LOCATION, "known", 1000);
    await object.beginUpload(LOCATION, "late", 1000);
    await object.forgetUpload("late");
    const late = push([update(MAIN, null, A)], { uploadId: "late", packs: [pack("late-0")] });
    expect(await object.commitPush(LOCATION, late)).toMatchObject({
      outcomes: [{ kind: "expired", ref: MAIN }],
      entry: null,
      arePacksKept: false,
    });
    expect(await object.snapshot()).toMatchObject({ refs: [], packs: [] });

    await object.discard(2000);
    const known = push([update(MAIN, null, A)], { uploadId: "known", packs: [pack("known-0")] });
    expect((await object.commitPush(LOCATION, known)).outcomes).toMatchObject([
      { kind: "expired" },
    ]);
    expect(await object.snapshot()).toMatchObject({ refs: [], packs: [] });
  });

  it("requests a merge of small packs once there are four in a row", async () => {
    const object = fresh();
    const isDue = async (at: number, packBytes: number) => {
      const packs = [{ ...pack(`p${at}`), packBytes }];
      const change = push([update(`refs/heads/${at}`, null, A)], { packs });
      return (await object.commitPush(LOCATION, change)).isMaintenanceDue;
    };
    const due = [];
    for (const [at, bytes] of [9000, 100, 100, 100, 100].entries()) {
      due.push(await isDue(at, bytes));
    }
    expect(due).toEqual([false, false, false, false, true]);
  });
});

describe("replacePacks", () => {
  it("replaces packs by their merged pack, only while all of them are listed", async () => {
    const object = fresh();
    for (const [at, name] of ["p1", "p2", "p3", "p4"].entries()) {
      const change = update(`refs/heads/${at}`, null, A);
      await object.commitPush(LOCATION, push([change], { packs: [pack(name)] }));
    }
    for (const id of ["one", "two"]) await object.beginUpload(LOCATION, id, 1000);
    const names = async () => (await object.snapshot()).packs.map(({ name }) => name);
    const unknown = await object.replacePacks("no-upload", ["p2", "p3"], pack("x"), 2000);
    expect(unknown).toEqual({ kind: "stale" });
    expect(await object.replacePacks("one", ["p2", "p3"], pack("merged", 6), 2000)).toEqual({
      kind: "replaced",
      packBytes: 300,
    });
    expect(await names()).toEqual(["p1", "merged", "p4"]);
    // The same merge again, as after a duplicate message, and another merge that is too late.
    for (const old of [
      ["p2", "p3"],
      ["p3", "p4"],
    ]) {
      expect(await object.replacePacks("two", old, pack("late"), 2000)).toEqual({ kind: "stale" });
    }
    expect(await names()).toEqual(["p1", "merged", "p4"]);
  });

  it("retains replaced packs for a day, for running reads", async () => {
    const object = fresh();
    for (const [at, name] of ["p1", "p2"].entries()) {
      const change = update(`refs/heads/${at}`, null, A);
      await object.commitPush(LOCATION, push([change], { packs: [pack(name)] }));
    }
    await object.beginUpload(LOCATION, "one", 1000);
    await object.replacePacks("one", ["p1", "p2"], pack("merged", 6), 5000);
    const day = 5000 + RETIRED_LIFE_MS;
    expect((await object.listWork(day - 1)).retired).toEqual([]);
    expect(await object.findHeld(["p1", "p2", "merged", "x"], day - 1)).toEqual([
      "p1",
      "p2",
      "merged",
    ]);
    const { version, retired } = await object.listWork(day);
    expect(retired).toEqual([
      { name: "p1", isShared: false },
      { name: "p2", isShared: false },
    ]);
    expect(await object.findHeld(["p1", "merged"], day)).toEqual(["merged"]);
    const pushIds = (await object.listOutbox()).map(({ pushId }) => pushId);
    const done = { version, pushIds, uploadIds: [], retiredNames: ["p1", "p2"], ...REST };
    expect(await object.finishWork(done)).toBe(true);
    expect((await object.listWork(day)).retired).toEqual([]);
  });
});

describe("holdPacks", () => {
  const packNames = async (object: ReturnType<typeof fresh>) =>
    (await object.snapshot()).packs.map(({ name }) => name);

  it("holds packs of another repository for a day, after which maintenance asks who lists them", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)], { packs: [pack("own")] }));
    await object.holdPacks(LOCATION, ["own", "other"], 5000);
    const day = 5000 + RETIRED_LIFE_MS;
    expect(await object.findHeld(["own", "other", "x"], day - 1)).toEqual(["own", "other"]);
    expect(await packNames(object)).toEqual(["own"]);
    expect((await object.listWork(day)).retired).toEqual([{ name: "other", isShared: true }]);
    await object.holdPacks(LOCATION, ["other"], 6000);
    expect((await object.listWork(day)).retired).toEqual([]);
  });

  // SECURITY: what maintenance finds retired is deleted, unless another repository lists it.
  it("ends when a push lists the packs, behind all others and once", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)], { packs: [pack("own")] }));
    await object.holdPacks(LOCATION, ["other"], 5000);
    const adoptedPacks = [pack("other")];
    const first = push([update(MAIN, A, B)], { adoptedPacks, adoptedAt: 0, packs: [pack("new")] });
    expect(await object.commitPush(LOCATION, first)).toMatchObject({ arePacksKept: true });
    expect(
      await object.commitPush(LOCATION, push([update(MAIN, B, C)], { adoptedPacks, adoptedAt: 0 })),
    ).toMatchObject({ outcomes: [{ kind: "updated" }] });
    expect(await packNames(object)).toEqual(["own", "other", "new"]);
    expect((await object.listWork(Number.MAX_SAFE_INTEGER)).retired).toEqual([]);
    await object.discard(1000);
    expect((await object.listWork(1000)).retired).toContainEqual({ name: "other", isShared: true });
  });
});

describe("the refs of pull requests", () => {
  const REFS = [
    MAIN,
    "refs/heads/pull/1/head",
    "refs/pull",
    "refs/pull/1/head",
    "refs/pull/1/merge",
    "refs/pull/10/head",
    "refs/pull/2/head",
    "refs/pull-requests/1",
    "refs/pulls/1",
    "refs/tags/v1",
  ];
  // A ref called `refs/pull` clashes with those below it.
  const STORED = REFS.filter((ref) => ref !== "refs/pull").toSorted();
  const OTHERS = STORED.filter((ref) => !ref.startsWith("refs/pull/"));

  const withRefs = async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push(REFS.slice(3).map((ref) => update(ref, null, A))));
    await object.commitPush(LOCATION, push(REFS.slice(0, 3).map((ref) => update(ref, null, A))));
    return object;
  };
  const namesOf = ({ refs }: { refs: { name: string }[] }) => refs.map(({ name }) => name);

  it.each([
    ["all", "all", STORED, false],
    ["none", "none", OTHERS, true],
    ["some", [1], [...OTHERS, "refs/pull/1/head", "refs/pull/1/merge"].toSorted(), true],
    [
      "some, in any order and twice",
      [2, 10, 2],
      [...OTHERS, "refs/pull/10/head", "refs/pull/2/head"].toSorted(),
      true,
    ],
    ["those of a number without any", [3], OTHERS, true],
  ] as const)("are in a snapshot as asked for: %s", async (_, pulls, names, lacksPullRefs) => {
    const object = await withRefs();
    const snapshot = await object.snapshot(pulls);
    expect(namesOf(snapshot)).toEqual(names);
    expect(snapshot.lacksPullRefs).toBe(lacksPullRefs);
    expect(await object.beginUpload(LOCATION, "one", 1000, pulls)).toEqual(snapshot);
    expect(await object.acquireLease(MAIN, 0, pulls)).toMatchObject({ snapshot });
  });

  it("are listed for those who need them after all, and are no part of a fork", async () => {
    const object = await withRefs();
    const pulls = STORED.filter((ref) => ref.startsWith("refs/pull/"));
    expect((await object.listPullRefs()).map(({ name }) => name)).toEqual(pulls);
    await object.commitPush(LOCATION, push([update("refs/pull/2/head", A, B)]));
    await object.commitPush(LOCATION, push([update("refs/heads/b", null, B)]));
    expect(await object.listPullRefs([B, C])).toMatchObject([{ name: "refs/pull/2/head" }]);
    expect(await object.listPullRefs([])).toEqual([]);
    const { location, object: fork } = freshNamed();
    await object.fork(LOCATION, location, 1000);
    expect(namesOf(await fork.snapshot())).toEqual([...OTHERS, "refs/heads/b"].toSorted());
    expect(await fork.snapshot("none")).toMatchObject({ lacksPullRefs: false });
  });
});

describe("the alarm", () => {
  it("requests maintenance until nothing is left to do", async () => {
    const object = fresh();
    const alarmOf = () => runInDurableObject(object, (_, { storage }) => storage.getAlarm());
    expect(await alarmOf()).toBeNull();
    const first = push([update(MAIN, null, A)]);
    await object.commitPush(LOCATION, first);
    const at = await alarmOf();
    expect(at).toBeGreaterThan(Date.now());
    await object.commitPush(LOCATION, push([update(MAIN, A, B)]));
    // Further pushes do not delay the alarm, so a busy repository gets maintenance too.
    expect(await alarmOf()).toBe(at);

    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await alarmOf()).toBeGreaterThan(Date.now());
    const { version, outbox } = await object.listWork(Date.now());
    const pushIds = outbox.map(({ pushId }) => pushId);
    expect(pushIds).toHaveLength(2);
    await object.finishWork({ version, pushIds, uploadIds: [], retiredNames: [], ...REST });
    await runDurableObjectAlarm(object);
    expect(await alarmOf()).toBeNull();
  });

  it("waits until the earliest work is due", async () => {
    const object = fresh();
    const alarmOf = () => runInDurableObject(object, (_, { storage }) => storage.getAlarm());
    const startedAt = Date.now();
    await object.beginUpload(LOCATION, "cut off", startedAt);
    await runDurableObjectAlarm(object);
    const lifeEnd = startedAt + UPLOAD_LIFE_MS;
    expect(await alarmOf()).toBe(lifeEnd);
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    expect(await alarmOf()).toBeLessThan(lifeEnd);
    expect(await object.listWork(lifeEnd - 1)).toMatchObject({ uploadIds: [] });
    expect(await object.listWork(lifeEnd)).toMatchObject({ uploadIds: ["cut off"] });
  });
});

describe("the outbox", () => {
  it("lists its entries oldest first", async () => {
    const object = fresh();
    const ats = [3000, 1000, 20_000, 2000];
    for (const [index, at] of ats.entries()) {
      await object.commitPush(LOCATION, push([update(`refs/heads/${index}`, null, A)], { at }));
    }
    const found = (await object.listOutbox()).map(({ at }) => at);
    expect(found).toEqual([1000, 2000, 3000, 20_000]);
  });
});

describe("the updates of a push", () => {
  const creations = (count: number, from = 0): RefUpdate[] =>
    Array.from({ length: count }, (_, at) => update(`refs/heads/${from + at}`, null, A));
  const namesOf = (list: { ref: string }[]) => list.map(({ ref }) => ref);

  it("are listed completely, in their order, in pages of 5,000", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    const all = creations(6000);
    const refused = update(MAIN, C, B);
    const { entry } = await object.commitPush(LOCATION, push([refused, ...all]));
    if (!entry) throw new Error("no ref was updated");
    await object.commitPush(LOCATION, push([update(MAIN, A, B)]));
    expect(entry).toMatchObject({ updateCount: 6000, packName: null });
    expect(await object.listOutbox()).toContainEqual(entry);
    const pages = [await object.listUpdates(entry, 0), await object.listUpdates(entry, 5000)];
    expect(pages.map((page) => page.length)).toEqual([5000, 1000]);
    expect(namesOf(pages.flat())).toEqual(namesOf(all));
    expect(pages[0]?.[0]).toEqual({ ref: "refs/heads/0", oldOid: null, newOid: A });
    expect(await object.listUpdates(entry, 6000)).toEqual([]);
  });

  it("are found for a push stored by an earlier schema version", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)]));
    const second = push(creations(2));
    await object.commitPush(LOCATION, second);
    await runInDurableObject(object, (instance, { storage }) => {
      const { id: pushId, actorId, at, updates } = second;
      const oldPayload = { pushId, updates, updateCount: 2, actorId, at };
      storage.sql.exec(
        "update outbox set payload = ? where push_id = ?",
        JSON.stringify(oldPayload),
        pushId,
      );
      // The statements since: this one, the table of merges, the index of values, and the tables of
      // forks.
      storage.sql.exec("drop table merges; drop index refs_oid");
      storage.sql.exec("drop table forks; drop table fork_states");
      storage.kv.put("schema", (storage.kv.get<number>("schema") ?? 0) - 7);
      (instance as unknown as { migrate: () => void }).migrate();
    });
    const entry = (await object.listOutbox()).find(({ pushId }) => pushId === second.id);
    expect(entry).toEqual({
      pushId: second.id,
      updateCount: 2,
      actorId: 7,
      at: 1000,
      rootUrl: "",
      packName: null,
      firstLogId: 2,
    });
    expect(namesOf(await object.listUpdates(entry as NonNullable<typeof entry>, 0))).toEqual(
      namesOf(second.updates),
    );
  });
});

describe("destroy", () => {
  it("deletes all state", async () => {
    const object = fresh();
    await object.commitPush(LOCATION, push([update(MAIN, null, A)], { packs: [pack("one")] }));
    await object.destroy();
    expect(await object.snapshot()).toEqual(NEW);
  });
});

describe("leases", () => {
  it("are passed on with the snapshot after the push of who had them", async () => {
    const object = fresh();
    const first = await object.acquireLease(MAIN, 0);
    if (first.kind !== "acquired") throw new Error("nobody has the lease");
    const { lease } = first;
    expect(first).toMatchObject({ hasWaited: false, snapshot: { refs: [] } });
    const second = object.acquireLease(MAIN, 10_000);
    // A push that updates nothing may be tried again under the same lease.
    await object.commitPush(LOCATION, push([update(MAIN, B, A)], { lease }));
    expect(await object.acquireLease(MAIN, 0)).toEqual({ kind: "busy" });
    await object.commitPush(LOCATION, push([update(MAIN, null, A)], { lease }));
    expect(await second).toMatchObject({
      kind: "acquired",
      hasWaited: true,
      snapshot: { refs: [{ name: MAIN, oid: A }] },
    });
  });

  it("are released without a push, by their holder", async () => {
    const object = fresh();
    const first = await object.acquireLease(MAIN, 0);
    if (first.kind !== "acquired") throw new Error("nobody has the lease");
    await object.releaseLease({ ...first.lease, id: "another" });
    expect(await object.acquireLease(MAIN, 0)).toEqual({ kind: "busy" });
    await object.releaseLease(first.lease);
    expect(await object.acquireLease(MAIN, 0)).toMatchObject({ kind: "acquired" });
  });
});
