import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../src/db/schema/index.ts";
import { collectObjects } from "../../src/domain/code/git/collect-objects.ts";
import { findUnneeded } from "../../src/domain/code/git/find-unneeded.ts";
import { maintainRepository } from "../../src/domain/code/git/maintain-repository.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { only } from "../../src/lib/only.ts";
import type { Push, RefUpdate, RepositoryLocation } from "../../src/storage/repository-records.ts";
import { RETIRED_LIFE_MS } from "../../src/storage/retention.ts";
import { call } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { db } from "../support/db.ts";
import { failing, type Fault } from "../support/faults.ts";
import { git, placeOf, readAllObjects } from "../support/git.ts";
import { freshName, make, type TestRepo, type TestUser } from "../support/make.ts";
import { filesOf, makeCommit, pushCommands, storePush, storeRefs } from "../support/push.ts";
import { systemCtx } from "../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Incompressible bytes. */
const noise = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

const locationOf = ({ objectName, networkName }: RepositoryLocation): RepositoryLocation => ({
  objectName,
  networkName,
});

/** Searches for what nothing reaches now, as an administrator may ask for. */
const collectNow = (repo: RepositoryLocation): Promise<void> =>
  collectObjects(systemCtx({}, Date.now()), {
    kind: "collect",
    ...locationOf(repo),
    askedGraceMs: 0,
  });

/** Maintenance of repositories when the packs that are replaced now are no longer read. */
async function maintainLater(...repos: readonly RepositoryLocation[]): Promise<void> {
  for (const days of [20, 40]) {
    for (const repo of repos) {
      await maintainRepository(systemCtx({}, Date.now() + days * DAY_MS), locationOf(repo));
    }
  }
}

/** Keys of the stored files of a network in which an id occurs. */
async function filesWith(repo: RepositoryLocation, oid: string): Promise<string[]> {
  const found: string[] = [];
  const rawText = String.fromCharCode(...oidBytes(oid));
  for (const key of await filesOf(repo)) {
    const bytes = new Uint8Array(await ((await env.PACKS.get(key))?.arrayBuffer() ?? []));
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) {
      text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    }
    if (text.includes(rawText) || text.includes(oid)) found.push(key);
  }
  return found;
}

const sizeOf = async (id: number): Promise<number> => {
  const rows = await db.select().from(repositories).where(eq(repositories.id, id));
  return rows[0]?.sizeBytes ?? -1;
};

const packNames = async (repo: RepositoryLocation): Promise<string[]> =>
  (await git.repository(repo).snapshot()).packs.map(({ name }) => name);

const remove = (owner: TestUser, repo: TestRepo, branch: string, oid: string) =>
  pushCommands(owner, repo, [{ ref: `refs/heads/${branch}`, old: oid, new: "0".repeat(40) }]);

/** A repository whose one pack has a commit of `main` and one of `secret`, which was deleted. */
async function makeLeaked() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const kept = makeCommit(freshName("kept"), noise(20_000));
  await storePush(repo, "refs/heads/main", kept.oid, kept.pack);
  const secret = makeCommit(freshName("secret"), noise(50_000));
  await storePush(repo, "refs/heads/secret", secret.oid, secret.pack);
  await maintainRepository(systemCtx({}, Date.now()), repo);
  expect(await packNames(repo)).toHaveLength(1);
  return { owner, repo, kept, secret };
}

/** A push that updates one ref, and brings no objects. */
const pushOf = (update: RefUpdate): Push => ({
  id: crypto.randomUUID(),
  actorId: 1,
  isConfined: false,
  at: Date.now(),
  rootUrl: "",
  visibility: { visibility: "public", isPrivate: false },
  uploadId: null,
  packs: [],
  updates: [update],
  requiredRefs: [],
  isAtomic: true,
  defaultBranch: "main",
});

async function forkOf(repo: TestRepo, as: TestUser) {
  const path = `/repos/${repo.owner}/${repo.name}/forks`;
  const { body } = await call("POST", path, { as, json: {} });
  return { ...(await placeOf(body.id)), id: body.id as number, name: body.name, owner: as.name };
}

describe("a search for unreachable objects", { timeout: 60_000 }, () => {
  it("removes a deleted branch from the bucket, and its bytes from the size", async () => {
    const { owner, repo, kept, secret } = await makeLeaked();
    const before = await sizeOf(repo.id);
    expect(await filesWith(repo, secret.blobOid)).not.toEqual([]);
    expect((await remove(owner, repo, "secret", secret.oid)).body).toContain(
      "ok refs/heads/secret",
    );
    await collectNow(repo);
    expect(await sizeOf(repo.id)).toBeLessThan(before - 50_000);
    expect(await readAllObjects(repo)).toBe(3);
    await maintainLater(repo);
    for (const oid of [secret.oid, secret.treeOid, secret.blobOid]) {
      expect(await filesWith(repo, oid)).toEqual([]);
    }
    expect(await filesWith(repo, kept.blobOid)).not.toEqual([]);
    expect(await readAllObjects(repo)).toBe(3);
    const path = `/repos/${repo.owner}/${repo.name}/git/blobs/${secret.blobOid}`;
    // As for an id that never existed.
    expect((await call("GET", path, { as: owner })).status).toBe(400);
  });

  it("keeps what a ref reached until the grace period is over", async () => {
    const { owner, repo, secret } = await makeLeaked();
    await remove(owner, repo, "secret", secret.oid);
    const names = await packNames(repo);
    for (const days of [0, 13]) {
      const ctx = systemCtx({}, Date.now() + days * DAY_MS);
      await collectObjects(ctx, { kind: "collect", ...locationOf(repo) });
      expect(await packNames(repo)).toEqual(names);
    }
    const ctx = systemCtx({}, Date.now() + 15 * DAY_MS);
    await collectObjects(ctx, { kind: "collect", ...locationOf(repo) });
    expect(await packNames(repo)).not.toEqual(names);
    expect(await readAllObjects(repo)).toBe(3);
  });

  it("writes nothing anew where too little would be gained, unless it is asked for", async () => {
    const { owner, repo, secret } = await makeLeaked();
    await remove(owner, repo, "secret", secret.oid);
    const names = await packNames(repo);
    const ctx = systemCtx({}, Date.now() + 15 * DAY_MS, { GIT_GC_LOST_PERCENT: "90" });
    await collectObjects(ctx, { kind: "collect", ...locationOf(repo) });
    expect(await packNames(repo)).toEqual(names);
    await collectNow(repo);
    expect(await packNames(repo)).not.toEqual(names);
  });

  it("lists no pack of which nothing is left", async () => {
    const { owner, repo, kept, secret } = await makeLeaked();
    const other = makeCommit(freshName("other"), noise(30_000));
    await storePush(repo, "refs/heads/other", other.oid, other.pack);
    await remove(owner, repo, "other", other.oid);
    expect(await packNames(repo)).toHaveLength(2);
    const [first] = await packNames(repo);
    await collectNow(repo);
    expect(await packNames(repo)).toEqual([first]);
    await maintainLater(repo);
    expect(await filesWith(repo, other.oid)).toEqual([]);
    for (const { oid } of [kept, secret]) expect(await filesWith(repo, oid)).not.toEqual([]);
  });

  it("leaves what refs of pull requests reach", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const [main, pull] = [makeCommit(freshName("main")), makeCommit(freshName("pull"))];
    await storePush(repo, "refs/heads/main", main.oid, main.pack);
    await storePush(repo, "refs/pull/1/head", pull.oid, pull.pack);
    await collectNow(repo);
    expect(await readAllObjects(repo)).toBe(6);
  });

  it("does not disturb who reads the packs as they were", async () => {
    const { owner, repo, secret } = await makeLeaked();
    const stored = git.repository(repo);
    const snapshot = await stored.snapshot();
    await remove(owner, repo, "secret", secret.oid);
    await collectNow(repo);
    await maintainRepository(systemCtx({}, Date.now() + RETIRED_LIFE_MS / 2), locationOf(repo));
    const { objects } = await stored.open(snapshot);
    expect(await objects.readObject(secret.blobOid)).toBeDefined();
  });

  it("runs once at a time, and again after the time of one that died", async () => {
    const { owner, repo, secret } = await makeLeaked();
    await remove(owner, repo, "secret", secret.oid);
    const names = await packNames(repo);
    const now = Date.now();
    expect(await git.repository(repo).beginCollection(now, now)).toBeDefined();
    await collectNow(repo);
    expect(await packNames(repo)).toEqual(names);
    await collectObjects(systemCtx({}, now + 60 * 60 * 1000), {
      kind: "collect",
      ...locationOf(repo),
      askedGraceMs: 0,
    });
    expect(await packNames(repo)).not.toEqual(names);
  });

  it("is requested by the object once the grace period is over", async () => {
    const { owner, repo, secret } = await makeLeaked();
    const object = env.REPOSITORY.getByName(repo.objectName);
    const alarm = (): Promise<number | null> =>
      runInDurableObject(object, (_, { storage }) => storage.getAlarm());
    await remove(owner, repo, "secret", secret.oid);
    const startedAt = Date.now();
    await maintainLater(repo);
    // The alarm of the push comes first, and leads to this one.
    await runDurableObjectAlarm(object);
    const dueAt = (await alarm()) ?? 0;
    expect(dueAt - startedAt).toBeGreaterThan(13.9 * DAY_MS);
    expect(dueAt - startedAt).toBeLessThan(14.1 * DAY_MS);
    const later = startedAt + 15 * DAY_MS;
    await collectObjects(systemCtx({}, later), { kind: "collect", ...locationOf(repo) });
    await runDurableObjectAlarm(object);
    await maintainRepository(systemCtx({}, later + 2 * DAY_MS), locationOf(repo));
    await runDurableObjectAlarm(object);
    expect(await alarm()).toBeNull();
  });
});

describe("a search in a fork network", { timeout: 60_000 }, () => {
  it("keeps what a fork reaches, and shares the new pack", async () => {
    const { owner, repo, kept, secret } = await makeLeaked();
    const forker = await make.user();
    const fork = await forkOf(repo, forker);
    await remove(owner, repo, "secret", secret.oid);
    const names = await packNames(repo);
    await collectNow(repo);
    expect(await packNames(repo)).toEqual(names);

    const path = `/repos/${fork.owner}/${fork.name}/branches/secret`;
    expect((await call("DELETE", path, { as: forker })).status).toBe(204);
    await collectNow(repo);
    expect(await packNames(repo)).not.toEqual(names);
    expect(await packNames(fork)).toEqual(await packNames(repo));
    expect(await sizeOf(fork.id)).toBe(await sizeOf(repo.id));
    await maintainLater(repo, fork);
    expect(await filesWith(repo, secret.blobOid)).toEqual([]);
    for (const each of [repo, fork]) expect(await readAllObjects(each)).toBe(3);

    // The new pack is shared: it outlives the parent.
    await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as: owner });
    await maintainLater(repo, fork);
    expect(await readAllObjects(fork)).toBe(3);
    expect(await filesWith(fork, kept.oid)).not.toEqual([]);
  });

  it("keeps what a fork has that nobody has used, also one of such a fork", async () => {
    const { owner, repo, secret } = await makeLeaked();
    const fork = await forkOf(repo, await make.user());
    const ofFork = { ...repo, owner: fork.owner, name: fork.name };
    const second = await forkOf(ofFork, await make.user());
    await remove(owner, repo, "secret", secret.oid);
    await collectNow(repo);
    await maintainLater(repo);
    for (const each of [fork, second]) expect(await readAllObjects(each)).toBe(6);
    expect(await readAllObjects(repo)).toBe(3);
    expect(await filesWith(repo, secret.oid)).not.toEqual([]);
  });

  it("writes the size of each repository", async () => {
    const { owner, repo, secret } = await makeLeaked();
    const forker = await make.user();
    const fork = await forkOf(repo, forker);
    const before = await sizeOf(fork.id);
    await remove(owner, repo, "secret", secret.oid);
    await call("DELETE", `/repos/${fork.owner}/${fork.name}/branches/secret`, { as: forker });
    await collectObjects(systemCtx({}, Date.now()), {
      kind: "collect",
      ...locationOf(repo),
      askedGraceMs: 0,
    });
    expect(await sizeOf(fork.id)).toBeLessThan(before);
  });

  it("keeps what a fork's own commits need of shared packs", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const first = history.commit({ files: { a: "a", b: "b" } });
    const second = history.commit({ files: { a: "a2", b: "b" }, parents: [first] });
    await storeRefs(
      repo,
      [
        { ref: "refs/heads/main", oid: first },
        { ref: "refs/heads/topic", oid: second },
      ],
      history.build(),
    );
    const forker = await make.user();
    const fork = await forkOf(repo, forker);
    // A commit on the topic, without what the topic has.
    const own = new History();
    own.commit({ files: { a: "a", b: "b" } });
    own.commit({ files: { a: "a2", b: "b" }, parents: [first] });
    const third = own.commit({ files: { a: "a2", b: "b", c: "c" }, parents: [second] });
    const commands = [{ ref: "refs/heads/topic", old: second, new: third }];
    const pushed = await pushCommands(forker, fork, commands, { pack: own.build() });
    expect(pushed.body).toContain("ok refs/heads/topic");
    await remove(owner, repo, "topic", second);
    await collectNow(repo);
    expect(await readAllObjects(fork)).toBe(10);
    expect(await readAllObjects(repo)).toBe(4);
  });

  it("is due in a fork that has merged shared packs, which have what only its parent reached", async () => {
    const { owner, repo, secret } = await makeLeaked();
    const fork = await forkOf(repo, await make.user());
    const forkOwner = { ref: "refs/heads/secret", oldOid: secret.oid, newOid: null };
    await git.repository(fork).commitPush(pushOf({ ...forkOwner, peeledOid: null }));
    await git.repository(fork).endCollection(Date.now(), Date.now() + DAY_MS);
    const dueAt = () =>
      runInDurableObject(env.REPOSITORY.getByName(fork.objectName), (_, { storage }) =>
        storage.kv.get<{ first?: number }>("collection"),
      );
    expect((await dueAt())?.first).toBeUndefined();
    const own = makeCommit(freshName("own"), noise(60_000));
    await storePush({ ...repo, ...fork, ownerId: owner.id }, "refs/heads/own", own.oid, own.pack);
    await maintainRepository(systemCtx({}, Date.now()), locationOf(fork));
    expect(await packNames(fork)).toHaveLength(1);
    expect(await packNames(fork)).not.toEqual(await packNames(repo));
    expect((await dueAt())?.first).toBeDefined();

    await remove(owner, repo, "secret", secret.oid);
    await collectNow(repo);
    await collectObjects(systemCtx({}, Date.now() + 15 * DAY_MS), {
      kind: "collect",
      ...locationOf(fork),
    });
    await maintainLater(repo, fork);
    expect(await filesWith(repo, secret.blobOid)).toEqual([]);
    expect(await readAllObjects(fork)).toBe(6);
  });

  it("is refused by a repository that has taken what another reaches meanwhile", async () => {
    const { repo } = await makeLeaked();
    const stored = git.repository(repo);
    const now = Date.now();
    const view = await stored.beginCollection(now, now);
    if (!view) throw new Error("another search runs");
    const pack = only(view.packs);
    const how = { oldName: pack.name, pack: null, isShared: false };
    const refs = await stored.snapshot();
    const taken = { ref: "refs/heads/taken", oldOid: null, newOid: refs.refs[0]?.oid ?? "" };
    const push = { ...pushOf({ ...taken, peeledOid: null }), adoptedPacks: [], adoptedAt: 0 };
    expect((await stored.commitPush(push)).outcomes).toMatchObject([{ kind: "updated" }]);
    const outcome = await stored.replaceCollected({ ...how, epoch: view.epoch }, now);
    expect(outcome).toEqual({ kind: "stale" });

    // The other way round: objects were removed since the packs of a push were chosen.
    const epoch = { collections: 0, adoptions: 1 };
    expect(await stored.replaceCollected({ ...how, epoch }, now)).toMatchObject({
      kind: "replaced",
    });
    const update = { ...only(push.updates), ref: "refs/heads/other" };
    const again = { ...push, id: crypto.randomUUID(), updates: [update] };
    expect((await stored.commitPush(again)).outcomes).toMatchObject([
      { kind: "required-ref-changed" },
    ]);
    expect((await stored.commitPush({ ...again, adoptedAt: 1 })).outcomes).toMatchObject([
      { kind: "updated" },
    ]);
  });

  it("gives back shared packs of a network that several jobs must ask", async () => {
    const { repo } = await makeLeaked();
    const forks = [];
    for (let count = 0; count < 3; count++) forks.push(await forkOf(repo, await make.user()));
    const [name = ""] = await packNames(repo);
    const ask = async (inquiry: Parameters<typeof findUnneeded>[3], now: number) =>
      findUnneeded(systemCtx({}, now), repo, [{ name, isShared: true }], inquiry, 1);
    const now = Date.now();
    expect(await ask(null, now)).toEqual({ unneeded: [], decided: [name], inquiry: null });

    // Only the last one still lists it, or none does.
    for (const fork of forks.slice(0, 2)) await git.repository(fork).discard(now - 2 * DAY_MS);
    const first = await ask(null, now);
    expect(first).toMatchObject({ unneeded: [], decided: [], inquiry: { names: [name] } });
    const second = await ask(first.inquiry, now);
    expect(second.inquiry?.askedTo).toBeGreaterThan(first.inquiry?.askedTo ?? 0);
    expect(await ask(second.inquiry, now)).toMatchObject({ unneeded: [], decided: [name] });
    await git.repository(forks[2] ?? repo).discard(now - 2 * DAY_MS);
    expect(await ask(second.inquiry, now)).toEqual({
      unneeded: [name],
      decided: [name],
      inquiry: null,
    });
    // An inquiry that took too long begins anew: who was asked first may list the pack by now.
    const late = await ask(second.inquiry, now + RETIRED_LIFE_MS);
    expect(late.inquiry?.askedTo).toBe(first.inquiry?.askedTo);
  });
});

describe("after a failure of any storage call, and after a crash of the Worker at it", () => {
  it("a search loses no object, and leaves no stray files", { timeout: 240_000 }, async () => {
    // Each call fails once with the Worker's death and once without, every other one after it took
    // effect.
    const story = async (fault: Fault) => {
      const { owner, repo, kept, secret } = await makeLeaked();
      const fork = await forkOf(repo, await make.user());
      // The fork has no refs of its own to the secret.
      const removal = pushOf({
        ref: "refs/heads/secret",
        oldOid: secret.oid,
        newOid: null,
        peeledOid: null,
      });
      await git.repository(fork).commitPush(removal);
      await git.repository(fork).settle(removal.id);
      await remove(owner, repo, "secret", secret.oid);
      const faults = failing(fault);
      const job = { kind: "collect", ...locationOf(repo), askedGraceMs: 0 } as const;
      await collectObjects(systemCtx(faults.bindings, Date.now()), job).catch(() => {});
      for (const each of [repo, fork]) expect(await readAllObjects(each)).toBe(3);
      for (const each of [repo, fork]) {
        await maintainRepository(systemCtx({}, Date.now() + 2 * DAY_MS), locationOf(each));
      }
      for (const each of [repo, fork]) expect(await readAllObjects(each)).toBe(3);
      // Of whichever lists the old pack still.
      for (const [days, each] of [repo, fork].entries()) {
        const ctx = systemCtx({}, Date.now() + (20 + days) * DAY_MS);
        await collectObjects(ctx, { ...job, ...locationOf(each) });
      }
      for (const days of [30, 40]) {
        for (const each of [repo, fork]) {
          await maintainRepository(systemCtx({}, Date.now() + days * DAY_MS), locationOf(each));
        }
      }
      for (const each of [repo, fork]) expect(await readAllObjects(each)).toBe(3);
      expect(await filesWith(repo, secret.blobOid)).toEqual([]);
      expect(await filesWith(repo, kept.blobOid)).not.toEqual([]);
      const listed = new Set([...(await packNames(repo)), ...(await packNames(fork))]);
      const stored = (await filesOf(repo)).flatMap(
        (key) => /packs\/(.*)\.pack$/.exec(key)?.[1] ?? [],
      );
      expect(stored.toSorted()).toEqual([...listed].toSorted());
      return faults.hasFailed();
    };
    for (const isDeath of [true, false]) {
      let at = 0;
      while (await story({ at, isDone: (at % 2 === 0) === isDeath, isDeath })) at++;
      expect(at).toBeGreaterThanOrEqual(10);
    }
  });
});
