import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  auditEvents,
  events,
  hookDeliveries,
  hooks,
  packages,
  relayedEvents,
  repositories,
  shardRepositories,
  webhookEvents,
  type Package,
  type User,
} from "../../src/db/schema/index.ts";
import type { Database } from "../../src/db/db.ts";
import { forwardEvents } from "../../src/domain/events/forward-events.ts";
import { moveLinkedEvents } from "../../src/domain/events/move-linked-events.ts";
import { inDatabase } from "../../src/domain/shards/in-database.ts";
import { dispatchEvents } from "../../src/domain/webhooks/dispatch/dispatch-events.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "../support/db.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import {
  copyAll,
  ctxOf,
  makeRepoIn,
  putPackages,
  serve,
  SHARDED,
  shardOf,
  withPackageShards,
} from "../support/package-shards.ts";
import { doorsWith } from "../support/service.ts";

withPackageShards();

/** The shard of the packages here. */
const AT = 1;

const fileOf = (owner: Pick<User, "name">, version = "1.0") =>
  `/api/packages/${owner.name}/generic/tool/${version}/file.bin`;

const publish = async (owner: TestUser, version?: string): Promise<void> => {
  const { status } = await serve("PUT", fileOf(owner, version), { as: owner, body: "bytes" });
  if (status !== 201) throw new Error(`the version is not published: ${status}`);
};

const link = (as: TestUser, owner: TestUser, repoName: string) =>
  serve("POST", `/api/v1/packages/${owner.name}/generic/tool/-/link/${repoName}`, { as });

/** An account with a package in a shard, and a repository of it whose own data is in another database, perhaps. */
async function makeLinked(repoAt: number, fields: Partial<TestRepo> = {}) {
  const [owner, stranger] = [await make.user(), await make.user()];
  await putPackages(owner, AT);
  const repo = await makeRepoIn(repoAt, owner, fields);
  await publish(owner);
  const linked = await link(owner, owner, repo.name);
  return { owner, stranger, repo, linked };
}

const rowOf = async ({ id }: Pick<User, "id">): Promise<Package> =>
  only(await shardOf(AT).select().from(packages).where(eq(packages.ownerId, id)));

/** Whether each of some callers may download the file of a package. */
const readersOf = (owner: TestUser, readers: readonly TestUser[]): Promise<boolean[]> =>
  Promise.all(
    readers.map(async (as) => (await serve("GET", fileOf(owner), { as })).status === 200),
  );

const edit = (owner: TestUser, { name }: TestRepo, json: object, door = serve) =>
  door("PATCH", `/api/v1/repos/${owner.name}/${name}`, { as: owner, json });

describe.each([0, AT, 2])("a package of a shard whose repository is in database %i", (at) => {
  it("is seen by those who see the repository", async () => {
    const { owner, stranger, repo, linked } = await makeLinked(at);
    const collaborator = await make.user();
    expect(linked.status).toBe(201);
    expect(await rowOf(owner)).toMatchObject({ repoId: repo.id, isConcealed: false });
    const readers = [owner, stranger, collaborator];
    expect(await readersOf(owner, readers)).toEqual([true, true, true]);

    expect((await edit(owner, repo, { private: true })).status).toBe(200);
    expect(await rowOf(owner)).toMatchObject({ repoId: repo.id, isConcealed: true });
    expect(await readersOf(owner, readers)).toEqual([true, false, false]);

    const path = `/api/v1/repos/${owner.name}/${repo.name}/collaborators/${collaborator.name}`;
    const added = await serve("PUT", path, { as: owner, json: { permission: "read" } });
    expect(added.status).toBe(204);
    expect(await readersOf(owner, readers)).toEqual([true, false, true]);
    const listed = await serve("GET", `/api/v1/packages/${owner.name}`, { as: collaborator });
    expect(listed.body).toMatchObject([{ name: "tool", repository: { id: repo.id } }]);
    expect((await serve("DELETE", path, { as: owner })).status).toBe(204);
    expect(await readersOf(owner, readers)).toEqual([true, false, false]);

    expect((await edit(owner, repo, { private: false })).status).toBe(200);
    expect(await readersOf(owner, readers)).toEqual([true, true, true]);
  });
});

describe.each([0, 2])("a package of a shard that is linked to one of database %i", (at) => {
  it("stays hidden when a private repository is deleted", async () => {
    const { owner, stranger, repo } = await makeLinked(at, { isPrivate: true });
    expect(await readersOf(owner, [owner, stranger])).toEqual([true, false]);
    const path = `/api/v1/repos/${owner.name}/${repo.name}`;
    expect((await serve("DELETE", path, { as: owner })).status).toBe(204);
    expect(await rowOf(owner)).toMatchObject({ repoId: null, isRestricted: true });
    expect(await readersOf(owner, [owner, stranger])).toEqual([true, false]);
  });

  it("stays public when a public repository is deleted", async () => {
    const { owner, stranger, repo } = await makeLinked(at);
    const path = `/api/v1/repos/${owner.name}/${repo.name}`;
    expect((await serve("DELETE", path, { as: owner })).status).toBe(204);
    expect(await rowOf(owner)).toMatchObject({ repoId: null, isRestricted: false });
    expect(await readersOf(owner, [stranger])).toEqual([true]);
  });

  it("is linked no more when the repository is transferred", async () => {
    const { owner, stranger, repo } = await makeLinked(at, { isPrivate: true });
    const org = await make.org([owner]);
    await copyAll();
    const path = `/api/v1/repos/${owner.name}/${repo.name}/transfer`;
    const { status } = await serve("POST", path, { as: owner, json: { new_owner: org.name } });
    expect(status).toBe(202);
    expect(await rowOf(owner)).toMatchObject({ repoId: null, isRestricted: true });
    expect(await readersOf(owner, [owner, stranger])).toEqual([true, false]);
  });

  it("is taken off it", async () => {
    const { owner, repo } = await makeLinked(at);
    const path = `/api/v1/packages/${owner.name}/generic/tool/-/unlink`;
    expect((await serve("POST", path, { as: owner })).status).toBe(204);
    expect(await rowOf(owner)).toMatchObject({ repoId: null });
    expect((await serve("POST", path, { as: owner })).status).toBe(400);
    const audited = await shardOf(AT)
      .select({ kind: auditEvents.kind, repoId: auditEvents.repoId })
      .from(auditEvents)
      .where(eq(auditEvents.ownerId, owner.id));
    expect(audited).toEqual([
      { kind: "package.linked", repoId: repo.id },
      { kind: "package.unlinked", repoId: repo.id },
    ]);
  });
});

describe("a link from a shard", () => {
  it("is refused to another owner's repository", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    await putPackages(owner, AT);
    await publish(owner);
    const repo = await makeRepoIn(2, other);
    expect((await link(owner, owner, repo.name)).status).toBe(404);
    expect(await rowOf(owner)).toMatchObject({ repoId: null });
    const isRepo = eq(shardRepositories.repoId, repo.id);
    expect(await db.select().from(shardRepositories).where(isRepo)).toEqual([
      { shardId: 2, repoId: repo.id },
    ]);
  });

  // SECURITY: in the other order, the shard would show the package for as long as it does not answer.
  it("keeps a repository public while the shard does not answer", async () => {
    const { owner, stranger, repo } = await makeLinked(2);
    const failing = new Proxy(SHARDED.SHARD_1, {
      get: (target, name) => {
        if (name === "withSession") throw new Error("no answer");
        return Reflect.get(target, name) as unknown;
      },
    });
    const cut = doorsWith({}, { ...SHARDED, SHARD_1: failing });
    expect((await edit(owner, repo, { private: true }, cut)).status).toBe(500);
    const [row] = await db.select().from(repositories).where(eq(repositories.id, repo.id));
    expect(row?.isPrivate).toBe(false);
    expect(await readersOf(owner, [stranger])).toEqual([true]);
  });
});

/** A hook of a repository for packages. */
const makeHook = async (database: Database, repoId: number) =>
  only(
    await database
      .insert(hooks)
      .values({
        level: "repository",
        repoId,
        approverId: 0,
        url: "https://receiver.example",
        type: "gitea",
        contentType: "json",
        chat: {},
        events: ["package"],
        isActive: true,
        createdAt: 1000,
        updatedAt: 1000,
      })
      .returning(),
  );

const eventsIn = (at: number, { id }: Pick<User, "id">) =>
  shardOf(at)
    .select({ type: events.type, repoId: events.repoId, dispatchAt: events.dispatchAt })
    .from(events)
    .where(eq(events.ownerId, id))
    .orderBy(events.id);

describe.each([0, 2])("events of a package whose repository is in database %i", (at) => {
  it("move there, once, and reach the repository's hooks", async () => {
    const { owner, repo } = await makeLinked(at);
    const hook = await makeHook(shardOf(at), repo.id);
    await publish(owner, "2.0");
    await serve("DELETE", fileOf(owner, "2.0"), { as: owner });
    expect(await eventsIn(AT, owner)).toMatchObject([
      { type: "package.created", repoId: null },
      { type: "package.created", repoId: repo.id, dispatchAt: null },
      { type: "package.deleted", repoId: repo.id, dispatchAt: null },
    ]);

    const ctx = inDatabase(ctxOf(), AT);
    const isLinked = eq(events.repoId, repo.id);
    const moving = await shardOf(AT).select().from(events).where(isLinked);
    await moveLinkedEvents(ctx);
    // As after a run that ended before it had removed them: a trigger notes them again.
    await shardOf(AT).insert(events).values(moving);
    expect(await shardOf(AT).select().from(relayedEvents)).toHaveLength(2);
    await moveLinkedEvents(ctx);
    expect(await shardOf(AT).select().from(relayedEvents)).toEqual([]);

    expect(await eventsIn(AT, owner)).toMatchObject([{ type: "package.created", repoId: null }]);
    expect(await eventsIn(at, owner)).toMatchObject([
      { type: "package.created", repoId: repo.id, dispatchAt: expect.any(Number) },
      { type: "package.deleted", repoId: repo.id, dispatchAt: expect.any(Number) },
    ]);
    await dispatchEvents(inDatabase(ctxOf(), at));
    const delivered = await shardOf(at)
      .select({ payload: webhookEvents.payload })
      .from(hookDeliveries)
      .innerJoin(webhookEvents, eq(webhookEvents.id, hookDeliveries.webhookEventId))
      .where(eq(hookDeliveries.hookId, hook.id))
      .orderBy(hookDeliveries.id);
    expect(delivered).toMatchObject([
      { payload: { action: "created", package: { version: "2.0" }, repository: { id: repo.id } } },
      { payload: { action: "deleted", package: { version: "2.0" }, repository: { id: repo.id } } },
    ]);
  });
});

describe.each([0, 2])("the operator's queue of events, for database %i", (at) => {
  it("gets each event of a linked package once", async () => {
    const { owner, repo } = await makeLinked(at);
    const sent: { type: string; repository?: { id: number } }[] = [];
    const EVENTS_OUT = {
      sendBatch: async (messages: { body: (typeof sent)[number] }[]) => {
        sent.push(...messages.map(({ body }) => body));
      },
    } as unknown as Queue<object>;
    const forward = (shard: number) =>
      forwardEvents(inDatabase(ctxOf(Date.now(), { EVENTS_OUT }), shard));
    // The first runs set the cursors.
    for (const shard of [AT, at]) await forward(shard);
    sent.length = 0;

    await publish(owner, "2.0");
    await forward(AT);
    expect(sent).toEqual([]);
    await moveLinkedEvents(inDatabase(ctxOf(), AT));
    for (const shard of [at, AT]) await forward(shard);
    expect(sent).toMatchObject([{ type: "package.created", repository: { id: repo.id } }]);
  });
});

describe("events of a package whose repository is in the same shard", () => {
  it("stay", async () => {
    const { owner, repo } = await makeLinked(AT);
    await publish(owner, "2.0");
    expect(await eventsIn(AT, owner)).toMatchObject([
      { repoId: null },
      { repoId: repo.id, dispatchAt: expect.any(Number) },
    ]);
    expect(await shardOf(AT).select().from(relayedEvents)).toEqual([]);
  });
});
