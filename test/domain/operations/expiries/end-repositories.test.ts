import { env } from "cloudflare:workers";
import { asc, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { beforeEach, describe, expect, it } from "vitest";

import type { Ctx } from "../../../../src/context.ts";
import {
  discardedObjects,
  notifications,
  repositories,
  type RepositoryExpiry,
} from "../../../../src/db/schema/index.ts";
import { dispatchEvents } from "../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { endRepositories } from "../../../../src/domain/operations/expiries/end-repositories.ts";
import { sendDueExpiries } from "../../../../src/domain/operations/expiries/send-due-expiries.ts";
import { auditOf } from "../../../support/audit.ts";
import { call } from "../../../support/call.ts";
import { silentBindings } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { deliveriesOf, makeReceivedHook } from "../../../support/deliveries.ts";
import { eventsIn, eventsOf, typesOf } from "../../../support/events.ts";
import { intercepted } from "../../../support/intercepted-database.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { withoutQueueConsumer } from "../../../support/queue-consumer.ts";
import { systemCtx } from "../../../support/system.ts";

const SETTINGS = { ROOT_URL: "https://forge.example" };
const HOUR_MS = 3600 * 1000;

/** A job, with a queue that takes no messages. */
const jobCtx = (
  sent: object[] = [],
  settings: Record<string, string> = SETTINGS,
  bindings: Partial<Env> = {},
): Ctx =>
  systemCtx(
    {
      ...silentBindings(),
      REMOTE_JOBS: {
        sendBatch: (messages: Iterable<{ body: object }>) => {
          sent.push(...[...messages].map(({ body }) => body));
          return Promise.resolve();
        },
      } as unknown as Env["REMOTE_JOBS"],
      ...bindings,
    },
    Date.now(),
    settings,
  );

const ended = (fields: Partial<RepositoryExpiry> = {}): { expiry: RepositoryExpiry } => ({
  expiry: { expiresAt: 1000, action: "delete", extensionMs: null, checkAt: 1000, ...fields },
});

const rowOf = async ({ id }: { id: number }) =>
  (await db.select().from(repositories).where(eq(repositories.id, id)))[0];

/** Runs the job until nothing is due. */
async function endAll(): Promise<number> {
  for (let rounds = 0; ; rounds++) {
    const sent: object[] = [];
    await sendDueExpiries(jobCtx(sent));
    if (sent.length === 0) return rounds;
    await endRepositories(jobCtx());
  }
}

beforeEach(async () => {
  // Of other tests.
  await db.update(repositories).set({ expiry: null });
});

describe("endRepositories", () => {
  it("deletes a repository as its owner does: with rows, objects, event and audit", async () => {
    const owner = await make.user();
    const json = { name: freshName("ends"), auto_init: true };
    const { body: made } = await call("POST", "/user/repos", { as: owner, json });
    await call("POST", `/repos/${owner.name}/${json.name}/issues`, {
      as: owner,
      json: { title: "One" },
    });
    await db.update(repositories).set(ended()).where(eq(repositories.id, made.id));
    const { objectName = "" } = (await rowOf(made)) ?? {};

    await endRepositories(jobCtx());

    expect(await rowOf(made)).toBeUndefined();
    expect((await call("GET", `/repos/${owner.name}/${json.name}`, { as: owner })).status).toBe(
      404,
    );
    const last = (await eventsOf(made)).at(-1);
    expect(last).toMatchObject({
      type: "repository.deleted",
      actorId: 0,
      ownerId: owner.id,
      payload: { name: json.name },
    });
    expect((await auditOf(owner)).at(-1)).toMatchObject({
      kind: "repository.deleted",
      target: `${owner.name}/${json.name}`,
      actorId: 0,
    });
    expect(
      await db.select().from(discardedObjects).where(eq(discardedObjects.objectName, objectName)),
    ).toHaveLength(1);
  });

  it("names the service in the webhook's payload where only requests know its address", async () => {
    const owner = await make.user();
    const json = { name: freshName("ends") };
    const { body: made } = await call("POST", "/user/repos", { as: owner, json });
    await db.update(repositories).set(ended()).where(eq(repositories.id, made.id));
    await withoutQueueConsumer(async () => {
      await endRepositories(jobCtx([], {}));
      const last = (await eventsOf(made)).at(-1);
      expect(last?.payload["lastPayload"]).toMatchObject({
        action: "deleted",
        repository: { html_url: `https://forge.example/${owner.name}/${json.name}` },
        sender: { login: "Ghost" },
      });
    });
  });

  it("archives one that is to be archived, once, and takes its end from it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, ended({ action: "archive" }));
    await endRepositories(jobCtx());
    await endRepositories(jobCtx());
    const row = await rowOf(repo);
    expect(row?.archivedAt).not.toBeNull();
    expect(row?.expiry).toBeNull();
    const events = await eventsOf(repo);
    expect(typesOf(events)).toEqual(["repository.edited", "repository.archived"]);
    expect(events[0]?.payload).toEqual({ changed: ["expiry", "isArchived"] });
    expect(await auditOf(owner)).toMatchObject([
      { kind: "repository.edited", details: { changed: ["expiry", "isArchived"] } },
    ]);
    expect((await call("GET", `/repos/${repo.owner}/${repo.name}`)).body).toMatchObject({
      archived: true,
      expires_at: null,
    });
  });

  it("delivers what happens to webhooks", async () => {
    const { hook, repo } = await makeReceivedHook("", { events: ["repository"] });
    await db
      .update(repositories)
      .set(ended({ action: "archive", expiresAt: Date.now() + HOUR_MS }))
      .where(eq(repositories.id, repo.id));
    await endRepositories(jobCtx());
    await db
      .update(repositories)
      .set(ended({ action: "archive" }))
      .where(eq(repositories.id, repo.id));
    await endRepositories(jobCtx());
    await dispatchEvents(jobCtx());
    expect((await deliveriesOf(hook)).map(({ event }) => event)).toEqual([
      "repository",
      "repository",
    ]);
  });

  it("announces an end once, to the owner, and carries it out later", async () => {
    const owner = await make.user();
    const expiresAt = Date.now() + HOUR_MS;
    const repo = await make.repo(owner, ended({ expiresAt }));
    await endAll();
    await endAll();
    expect(await eventsOf(repo)).toMatchObject([
      { type: "repository.expiring", payload: { expiresAt, action: "delete" } },
    ]);
    expect((await rowOf(repo))?.expiry).toEqual({
      expiresAt,
      action: "delete",
      extensionMs: null,
      checkAt: expiresAt,
    });
    const { body } = await call("GET", "/notifications", { as: owner });
    expect(body).toMatchObject([
      {
        unread: true,
        subject: { type: "Repository", title: `${repo.owner}/${repo.name}` },
        repository: { id: repo.id, expires_at: expect.any(String) },
      },
    ]);
  });

  it("announces a later end of the same repository by the same notification", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, ended({ expiresAt: Date.now() + HOUR_MS }));
    await endAll();
    await call("PUT", "/notifications", { as: owner });
    expect((await call("GET", "/notifications", { as: owner })).body).toEqual([]);
    await db
      .update(repositories)
      .set(ended({ expiresAt: Date.now() + 2 * HOUR_MS }))
      .where(eq(repositories.id, repo.id));
    await endAll();
    expect((await call("GET", "/notifications", { as: owner })).body).toHaveLength(1);
    expect(
      await db.select().from(notifications).where(eq(notifications.userId, owner.id)),
    ).toHaveLength(1);
  });

  it("announces the end of an organization's repository to its owners alone", async () => {
    const [first, second, member, gone] = [
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user({ isLoginProhibited: true }),
    ];
    const org = await make.org([first, second, gone]);
    await make.member(org, await make.team(org), member);
    const repo = await make.repo(org, ended({ expiresAt: Date.now() + HOUR_MS }));
    await endAll();
    const told = await db
      .select({ userId: notifications.userId })
      .from(notifications)
      .where(eq(notifications.repoId, repo.id))
      .orderBy(asc(notifications.userId));
    expect(told.map(({ userId }) => userId)).toEqual([first.id, second.id]);
  });

  it("keeps one whose end was moved, taken away or changed after the job has read it", async () => {
    const owner = await make.user();
    const later = Date.now() + HOUR_MS;
    const changes: [Partial<RepositoryExpiry>, RepositoryExpiry | null][] = [
      [{}, ended({ expiresAt: later, checkAt: later }).expiry],
      [{}, null],
      [{}, ended({ action: "archive", checkAt: later }).expiry],
      [{ action: "archive" }, ended({ expiresAt: later, checkAt: later }).expiry],
      [{ expiresAt: later }, ended({ expiresAt: later + 1, checkAt: later }).expiry],
    ];
    for (const [before, after] of changes) {
      const repo = await make.repo(owner, ended(before));
      await endRepositories(afterLease(() => setExpiry(repo, after)));
      const row = await rowOf(repo);
      expect([row?.expiry, row?.archivedAt]).toEqual([after, null]);
      expect(await eventsOf(repo)).toEqual([]);
      expect(await auditOf({ id: owner.id })).toEqual([]);
    }
  });

  it("is repeated after its lease where a Worker dies before any step, with one effect", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, ended());
    const dying = afterLease(() => {
      throw new Error("died");
    });
    await expect(endRepositories(dying)).rejects.toThrow(/died|Failed query/);
    expect(await rowOf(repo)).toBeDefined();
    // Others leave it until then.
    await endRepositories(jobCtx());
    expect(await rowOf(repo)).toBeDefined();
    await endRepositories({ ...jobCtx(), now: Date.now() + HOUR_MS });
    expect(await rowOf(repo)).toBeUndefined();
    expect(typesOf(await eventsIn(owner))).toEqual(["repository.deleted"]);
  });

  it("goes on where one of them fails", async () => {
    const owner = await make.user();
    const [first, second] = [await make.repo(owner, ended()), await make.repo(owner, ended())];
    await db.run(sql`
      create trigger refuse_end before delete on repositories when old.id = ${sql.raw(String(first.id))}
      begin select raise(abort, 'refused'); end`);
    try {
      await endRepositories(jobCtx());
    } finally {
      await db.run(sql`drop trigger refuse_end`);
    }
    expect(await rowOf(first)).toMatchObject({ expiry: { expiresAt: 1000 } });
    expect(await rowOf(second)).toBeUndefined();
  });
});

describe("1,000 repositories that end at once", () => {
  it("go in batches, one message for each, and are found by an index", async () => {
    const owner = await make.user();
    await makeMany(owner, 1000);
    const sent: object[] = [];
    await sendDueExpiries(jobCtx(sent));
    expect(sent).toHaveLength(50);
    expect(new Set(sent.map((message) => JSON.stringify(message)))).toEqual(
      new Set([JSON.stringify({ kind: "end-repositories" })]),
    );

    const ctx = jobCtx();
    await endRepositories(ctx);
    // An invocation of the platform has 1,000 statements.
    expect(ctx.db.statementCount).toBeLessThan(900);
    expect(await countOf(owner)).toBe(980);
    await Promise.all([endRepositories(jobCtx()), endRepositories(jobCtx())]);
    expect(await countOf(owner)).toBe(940);
    const deleted = typesOf(await eventsIn(owner)).filter((type) => type === "repository.deleted");
    expect(deleted).toHaveLength(60);
  });

  it("reads no repository without an end", async () => {
    const plan = await db.all<{ detail: string }>(sql`
      explain query plan
      select id from repositories
      where repositories.expiry is not null and repositories.expiry ->> '$.checkAt' <= 1
      order by repositories.expiry ->> '$.checkAt'`);
    expect(plan.map(({ detail }) => detail)).toEqual([
      "SEARCH repositories USING INDEX repositories_expiring (<expr><?)",
    ]);
  });
});

const setExpiry = async ({ id }: TestRepo, expiry: RepositoryExpiry | null): Promise<void> => {
  await db.update(repositories).set({ expiry }).where(eq(repositories.id, id));
};

/** A job that does something before its second call of the database, which follows the lease. */
function afterLease(work: () => Promise<void> | void, calls = 1): Ctx {
  let made = 0;
  return jobCtx([], SETTINGS, {
    DB: intercepted(env.DB, async (run) => {
      if (made++ === calls) await work();
      return run();
    }),
  });
}

async function makeMany(owner: TestUser, count: number): Promise<void> {
  const row = await rowOf(await make.repo(owner));
  if (!row) throw new Error("no repository");
  const { id: _id, ...fields } = row;
  for (let from = 0; from < count; from += 100) {
    await db.batch(
      Array.from({ length: 100 }, (__, at) => {
        const name = `many-${from + at}`;
        const objectName = crypto.randomUUID();
        return db.insert(repositories).values({
          ...fields,
          ...ended(),
          name,
          lowerName: name,
          objectName,
          networkName: objectName,
        });
      }) as unknown as [BatchItem<"sqlite">],
    );
  }
  await db.delete(repositories).where(eq(repositories.id, row.id));
}

const countOf = async (owner: TestUser): Promise<number> =>
  (
    await db
      .select({ id: repositories.id })
      .from(repositories)
      .where(eq(repositories.ownerId, owner.id))
  ).length;
