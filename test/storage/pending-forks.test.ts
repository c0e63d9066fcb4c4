import { listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { newForkName, sourceOfFork } from "../../src/storage/object-names.ts";
import type {
  PackRecord,
  Push,
  RefUpdate,
  RepositoryLocation,
} from "../../src/storage/repository-records.ts";
import { FORK_ROW_MS } from "../../src/storage/retention.ts";
import { freshName } from "../support/make.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const MAIN = "refs/heads/main";
const PULL = "refs/pull/1/head";

const update = (ref: string, oldOid: string | null, newOid: string | null): RefUpdate => ({
  ref,
  oldOid,
  newOid,
  peeledOid: null,
});

const pack = (name: string): PackRecord => ({
  name,
  checksum: A,
  packBytes: 100,
  idxBytes: 10,
  sidecarBytes: 20,
  objectCount: 3,
});

const push = (updates: RefUpdate[], packs: PackRecord[] = []): Push => ({
  id: freshName("push"),
  actorId: 7,
  isConfined: false,
  at: 1000,
  rootUrl: "",
  requiredRefs: [],
  visibility: { visibility: "public", isPrivate: false },
  uploadId: null,
  packs,
  updates,
  isAtomic: false,
  defaultBranch: "main",
});

/** A repository at `objectName`, and its object. */
const at = (objectName: string) => ({
  location: { objectName, networkName: "network" } satisfies RepositoryLocation,
  object: env.REPOSITORY.getByName(objectName),
});
type Place = ReturnType<typeof at>;

/** A repository with one branch, one pack and a pull request. */
async function makeSource(): Promise<Place> {
  const source = at(freshName("source"));
  const updates = [update(MAIN, null, A), update(PULL, null, B)];
  await source.object.commitPush(source.location, push(updates, [pack("one")]));
  return source;
}

/** A fork that nobody has used. */
async function forkOf(source: Place, atMs = Date.now()): Promise<Place> {
  const fork = at(newForkName(source.location.objectName));
  await source.object.fork(source.location, fork.location, atMs);
  return fork;
}

async function isStored({ location }: Place): Promise<boolean> {
  const ids = await listDurableObjectIds(env.REPOSITORY);
  return ids.some((id) => id.equals(env.REPOSITORY.idFromName(location.objectName)));
}

/**
 * The forks of which a repository knows that they are pending, and the rows that it stores for
 * them.
 */
const pendingOf = ({ object }: Place) =>
  runInDurableObject(object, (_, { storage: { sql } }) => ({
    names: [...sql.exec("select object_name from forks order by at").raw()].flat(),
    parts: sql.exec("select count(*) as count from fork_states").one()["count"],
  }));

/** What a fork of `makeSource` has, whatever happens to its source. */
const TAKEN = {
  version: 1,
  head: MAIN,
  refs: [{ name: MAIN, oid: A, peeledOid: null }],
  lacksPullRefs: false,
  packs: [pack("one")],
  collections: 0,
};

describe("a fork that nobody has used", () => {
  it("has no object of its own, and takes over refs and packs at the first call", async () => {
    const source = await makeSource();
    const fork = await forkOf(source);
    expect(await isStored(fork)).toBe(false);
    expect(await pendingOf(source)).toEqual({ names: [fork.location.objectName], parts: 0 });

    expect(await fork.object.snapshot()).toEqual(TAKEN);
    expect(await isStored(fork)).toBe(true);
    await expect.poll(() => pendingOf(source)).toEqual({ names: [], parts: 0 });
    await source.object.discard(2000);
    await fork.object.discard(2000);
    for (const { object } of [source, fork]) {
      expect((await object.listWork(2000)).retired).toEqual([{ name: "one", isShared: true }]);
    }
  });

  it.each<[string, (source: Place) => Promise<unknown>]>([
    [
      "a push that updates, creates and deletes refs",
      async ({ object, location }) => {
        const updates = [update("refs/heads/new", null, B), update(MAIN, A, B)];
        await object.commitPush(location, push(updates, [pack("two")]));
        await object.commitPush(location, push([update("refs/heads/new", B, null)]));
      },
    ],
    ["another default branch", ({ object }) => object.setHead("refs/heads/other")],
    [
      "a merge of packs",
      async ({ object, location }) => {
        await object.beginUpload(location, "merge", 1000);
        const outcome = await object.replacePacks("merge", ["one"], pack("merged"), 1000);
        expect(outcome.kind).toBe("replaced");
      },
    ],
    [
      "a removal of what nothing reaches",
      async ({ object, location }) => {
        await object.beginUpload(location, "collect", 1000);
        const epoch = (await object.beginCollection(1000, 0))?.epoch;
        if (!epoch) throw new Error("no search");
        const collected = { oldName: "one", pack: pack("rest"), uploadId: "collect" };
        const how = { ...collected, isShared: true, epoch };
        const outcome = await object.replaceCollected(location, how, 1000);
        expect(outcome.kind).toBe("replaced");
      },
    ],
    ["its deletion", ({ object }) => object.discard(2000)],
  ])("takes over the source as it was forked, also after %s", async (_, change) => {
    const source = await makeSource();
    const [first, second] = [await forkOf(source), await forkOf(source)];
    await change(source);
    const later = await forkOf(source);
    const { version, ...changed } = await source.object.snapshot("none");
    expect(version).toBeGreaterThan(1);
    for (const { object } of [first, second]) expect(await object.snapshot()).toEqual(TAKEN);
    const { packs, refs, head } = changed;
    expect(await later.object.snapshot()).toMatchObject({ packs, refs, head, version: 1 });
    // What was stored for them goes with the last of them.
    await expect.poll(() => pendingOf(source)).toEqual({ names: [], parts: 0 });
  });

  it("stores nothing for a push that is refused", async () => {
    const source = await makeSource();
    await forkOf(source);
    const refused = { ...push([update(MAIN, B, A), update("refs/heads/new", null, B)]) };
    await source.object.commitPush(source.location, { ...refused, isAtomic: true });
    expect(await pendingOf(source)).toMatchObject({ parts: 0 });
  });

  it("takes over thousands of refs, in their order", async () => {
    const source = await makeSource();
    const updates = Array.from({ length: 1200 }, (_, n) => update(`refs/heads/b${n}`, null, A));
    await source.object.commitPush(source.location, push(updates));
    const { refs } = await source.object.snapshot("none");
    const fork = await forkOf(source);
    await source.object.commitPush(source.location, push([update(MAIN, A, B)]));
    expect(await pendingOf(source)).toMatchObject({ parts: 3 });
    const taken = await fork.object.snapshot();
    expect(taken.refs).toHaveLength(1201);
    expect(taken).toMatchObject({ refs, packs: [pack("one")], head: MAIN });
  });

  it("takes over once, in any order of requests", async () => {
    const source = await makeSource();
    const fork = await forkOf(source);
    const branch = (name: string) => push([update(`refs/heads/${name}`, null, B)]);
    const calls = [
      fork.object.snapshot(),
      fork.object.commitPush(fork.location, branch("x")),
      fork.object.snapshot(),
      fork.object.commitPush(fork.location, branch("y")),
    ] as const;
    const [before, pushed] = await Promise.all(calls);
    expect(before).toEqual(TAKEN);
    expect(pushed.outcomes).toMatchObject([{ kind: "updated" }]);
    const { version, refs } = await fork.object.snapshot();
    expect([version, refs.map(({ name }) => name)]).toEqual([
      3,
      [MAIN, "refs/heads/x", "refs/heads/y"],
    ]);
  });

  it("can be forked itself, and makes its source's source forget it then", async () => {
    const source = await makeSource();
    const fork = await forkOf(source);
    await source.object.commitPush(source.location, push([update(MAIN, A, B)]));
    const second = await forkOf(fork);
    const third = await forkOf(second);
    await fork.object.commitPush(fork.location, push([update(MAIN, A, B)]));
    expect(await isStored(third)).toBe(false);
    expect(await third.object.snapshot()).toEqual(TAKEN);
    for (const each of [source, fork, second]) {
      await expect.poll(() => pendingOf(each)).toEqual({ names: [], parts: 0 });
    }
  });

  it("has an object at once behind many others, since names grow with each", async () => {
    let last = await makeSource();
    const names = new Set<string>();
    for (let depth = 0; depth < 8; depth++) {
      last = await forkOf(last);
      names.add(last.location.objectName);
      expect(last.location.objectName.length).toBeLessThanOrEqual(200);
      expect(await isStored(last)).toBe(sourceOfFork(last.location.objectName) === undefined);
      expect(await last.object.snapshot()).toEqual(TAKEN);
    }
    expect(new Set([...names].map((name) => sourceOfFork(name) === undefined)).size).toBe(2);
  });

  it("takes over at once where its source already stores much for others", async () => {
    const source = await makeSource();
    await forkOf(source);
    await source.object.commitPush(source.location, push([update(MAIN, A, B)]));
    await runInDurableObject(source.object, (_, { storage: { sql } }) => {
      for (let part = 1; part < 2000; part++) {
        sql.exec("insert into fork_states (version, part, payload) values (1, ?, '{}')", part);
      }
    });
    const fork = await forkOf(source);
    expect(await isStored(fork)).toBe(true);
    expect(await fork.object.snapshot()).toMatchObject({ refs: [{ oid: B }] });
  });

  it("fails, and stores nothing, while its source does not know of it", async () => {
    const source = await makeSource();
    const fork = at(newForkName(source.location.objectName));
    await expect(fork.object.snapshot().then(() => "served")).rejects.toThrow("does not know");
    await source.object.fork(source.location, fork.location, Date.now());
    expect(await env.REPOSITORY.getByName(fork.location.objectName).snapshot()).toEqual(TAKEN);
  });

  it("is forgotten where no row of it was written", async () => {
    const source = await makeSource();
    const [fork, other] = [await forkOf(source), await forkOf(source)];
    await source.object.cancelFork(fork.location);
    expect(await pendingOf(source)).toMatchObject({ names: [other.location.objectName] });
    const plain = at(freshName("deep"));
    await source.object.fork(source.location, plain.location, Date.now());
    await source.object.cancelFork(plain.location);
    expect(await plain.object.snapshot()).toMatchObject({ version: 0, refs: [], packs: [] });
    expect(await other.object.snapshot()).toEqual(TAKEN);
  });

  it("overwrites no repository that has pushes", async () => {
    const [source, other] = [await makeSource(), at(freshName("other"))];
    await other.object.commitPush(other.location, push([update(MAIN, null, B)]));
    const fork = { location: other.location, ...(await source.object.snapshot("none")) };
    await runInDurableObject(other.object, async (object) => {
      await expect(object.adopt(fork)).rejects.toThrow("can't become a fork");
    });
    expect((await other.object.snapshot()).refs).toMatchObject([{ oid: B }]);
  });
});

describe("maintenance of a repository with forks that nobody has used", () => {
  const finish = (source: Place, done: { gone?: string[]; confirmed?: string[] }) =>
    source.object.finishWork({
      version: 0,
      pushIds: [],
      uploadIds: [],
      retiredNames: [],
      goneForkNames: done.gone ?? [],
      confirmedForkNames: done.confirmed ?? [],
      inquiry: null,
      policy: { graceMs: 0, intervalMs: null },
    });

  it("looks once for each that is older than a request, and for all when it is deleted", async () => {
    const source = await makeSource();
    const now = Date.now();
    const [first, second, third] = [
      await forkOf(source, now + 1000),
      await forkOf(source, now + 2000),
      await forkOf(source, now + 3000),
    ].map(({ location }) => location.objectName) as [string, string, string];
    const due = async (ms: number) => (await source.object.listWork(now + ms)).forkNames;
    expect(await due(999 + FORK_ROW_MS)).toEqual([]);
    expect(await due(2000 + FORK_ROW_MS)).toEqual([first, second]);
    await finish(source, { gone: [second], confirmed: [first] });
    expect(await due(3000 + FORK_ROW_MS)).toEqual([third]);
    await source.object.discard(4000);
    expect((await due(4000)).toSorted()).toEqual([first, third].toSorted());
    expect(await finish(source, { gone: [first] })).toBe(false);
    expect(await pendingOf(source)).toEqual({ names: [third], parts: 1 });
    await finish(source, { gone: [third] });
    expect(await pendingOf(source)).toEqual({ names: [], parts: 0 });
  });

  it("is requested for those of which it is not known whether they exist", async () => {
    const source = await makeSource();
    const { version, outbox } = await source.object.listWork(Date.now());
    const fork = await forkOf(source, Date.now());
    const rest = { uploadIds: [], retiredNames: [], inquiry: null };
    const done = { version, pushIds: outbox.map(({ pushId }) => pushId), ...rest };
    const policy = { graceMs: 0, intervalMs: null };
    const names = { goneForkNames: [], confirmedForkNames: [] };
    expect(await source.object.finishWork({ ...done, ...names, policy })).toBe(false);
    await runDurableObjectAlarm(source.object);
    const alarmOf = () => runInDurableObject(source.object, (_, { storage }) => storage.getAlarm());
    expect(await alarmOf()).toBeGreaterThan(Date.now() + FORK_ROW_MS / 2);
    const confirmed = { goneForkNames: [], confirmedForkNames: [fork.location.objectName] };
    expect(await source.object.finishWork({ ...done, ...confirmed, policy })).toBe(true);
  });

  it("hears from a fork that has taken over by its alarm, if not at once", async () => {
    const source = await makeSource();
    const fork = await forkOf(source);
    await fork.object.snapshot();
    await expect.poll(() => pendingOf(source)).toMatchObject({ names: [] });
    const { objectName } = source.location;
    // As if the call had failed.
    await runInDurableObject(fork.object, (_, { storage }) => storage.kv.put("source", objectName));
    await source.object.fork(source.location, fork.location, Date.now());
    await runDurableObjectAlarm(fork.object);
    expect(await pendingOf(source)).toMatchObject({ names: [] });
    const marker = await runInDurableObject(fork.object, (_, { storage }) =>
      storage.kv.get("source"),
    );
    expect(marker).toBeUndefined();
  });
});
