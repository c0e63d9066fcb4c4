import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { type Database, openDatabase } from "../../../src/db/db.ts";
import { repositories } from "../../../src/db/schema/index.ts";
import { copyChanges } from "../../../src/domain/shards/copy-changes.ts";
import { copyToShards } from "../../../src/domain/shards/copy-to-shards.ts";
import { hideCopiesBefore } from "../../../src/domain/shards/hide-copies.ts";
import { failing, intercepted } from "../../support/intercepted-database.ts";
import { doorsWith } from "../../support/service.ts";
import { systemCtx } from "../../support/system.ts";
import {
  clearDatabases,
  copyAll,
  databases,
  directory,
  expectCopies,
  insertRows,
  insertToken,
  NOW,
  SHARDS,
  TOKEN,
} from "./three-shards.ts";

const [first, second] = databases as [Database, Database, ...Database[]];

/** Requests to a service with these shards, by the account of `insertRows`. */
const open = (shards: Partial<typeof SHARDS>) => doorsWith({}, { DB: env.DIRECTORY_DB, ...shards });

beforeEach(async () => {
  await clearDatabases();
  await insertRows();
  await insertToken();
});

describe("a repository that becomes private", () => {
  const PRIVATE = { token: TOKEN, json: { private: true } };
  const isPrivate = async (db: Database) => {
    const rows = await db.all(sql`select is_private, visibility from repositories where id = 3`);
    return rows[0];
  };
  const hidden = { is_private: 1, visibility: "private" };
  const shown = { is_private: 0, visibility: "public" };
  const expectNothingHidden = async (): Promise<void> =>
    expect(await directory.all(sql`select * from hidden_repositories`)).toEqual([]);

  it("is private in its copies and the first database", async () => {
    const visit = open(SHARDS);
    expect((await visit("PATCH", "/api/v1/repos/a/r", PRIVATE)).status).toBe(200);
    expect(await isPrivate(directory)).toEqual(hidden);
    expect(await isPrivate(first)).toEqual(hidden);
  });

  // SECURITY: a copy that stays public would be read for as long as its shard does not answer.
  it("stays public if a shard with a copy does not answer", async () => {
    const faults = { at: 0, isDone: false, calls: 0 };
    const visit = open({ SHARD_1: failing(SHARDS.SHARD_1, faults) });
    const written = () =>
      directory.all(sql`
        select (select count(*) from events) as events, (select count(*) from audit_events) as audit`);
    const before = await written();
    expect((await visit("PATCH", "/api/v1/repos/a/r", PRIVATE)).status).toBe(500);
    expect(await isPrivate(directory)).toEqual(shown);
    expect(await written()).toEqual(before);
    await copyAll();
    await expectCopies();
    expect(await isPrivate(first)).toEqual(shown);
  });

  /** Makes it private, after some other work. */
  const hideAfter = (work: () => Promise<void>) =>
    hideCopiesBefore(directory, systemCtx({ DB: env.DIRECTORY_DB, ...SHARDS }, NOW), {
      repoId: 3,
      change: async (...last) => {
        await work();
        const isThis = eq(repositories.id, 3);
        const hide = { isPrivate: true, visibility: "private" } as const;
        return directory.batch([
          directory.update(repositories).set(hide).where(isThis).returning({ id: repositories.id }),
          ...last,
        ]);
      },
    });

  // As while somebody links a package of that shard to it.
  it("is private in a copy that a shard gets meanwhile", async () => {
    const results = await hideAfter(async () => {
      await directory.run(sql`insert into shard_repositories values (2, 3)`);
      await copyAll();
      expect(await isPrivate(second)).toEqual(hidden);
      expect(await isPrivate(directory)).toEqual(shown);
    });
    expect(results).toEqual([[{ id: 3 }]]);
    expect(await isPrivate(second)).toEqual(hidden);
    await expectNothingHidden();
  });

  /** A run that has read the rows of a change, and stores them when it may go on. */
  async function beginRun(shard: D1Database) {
    const [read, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let calls = 0;
    const waiting = intercepted(shard, async (call) => {
      if (calls++ === 1) {
        read.resolve();
        await opened.promise;
      }
      return call();
    });
    await directory.run(sql`update repositories set description = 'new' where id = 3`);
    const run = copyChanges(directory, openDatabase(waiting.withSession()));
    await read.promise;
    return (): Promise<boolean> => {
      opened.resolve();
      return run;
    };
  }
  const description = (db: Database) => db.all(sql`select description from repositories`);

  // SECURITY: its entry may be copied much later, if the shard fails by then.
  it("stays private in a copy that a run stores which read it before", async () => {
    const goOn = await beginRun(SHARDS.SHARD_1);
    await hideAfter(async () => {
      expect(await goOn()).toBe(false);
      expect(await isPrivate(first)).toEqual(hidden);
    });
    expect(await isPrivate(first)).toEqual(hidden);
    await copyAll();
    await expectCopies();
    expect(await description(first)).toEqual([{ description: "new" }]);
  });

  it("stays private in a copy that a run stores which read it meanwhile", async () => {
    let goOn = (): Promise<boolean> => Promise.resolve(false);
    await hideAfter(async () => {
      goOn = await beginRun(SHARDS.SHARD_1);
    });
    expect(await goOn()).toBe(true);
    expect(await description(first)).toEqual([{ description: "new" }]);
    expect(await isPrivate(first)).toEqual(hidden);
  });

  it("is private in a copy that comes meanwhile from a run that read it before", async () => {
    await directory.run(sql`insert into shard_repositories values (2, 3)`);
    const goOn = await beginRun(SHARDS.SHARD_2);
    await directory.run(sql`delete from shard_repositories where shard_id = 2`);
    await hideAfter(async () => {
      await directory.run(sql`insert into shard_repositories values (2, 3)`);
    });
    expect(await goOn()).toBe(false);
    expect(await second.all(sql`select id from repositories where not is_private`)).toEqual([]);
  });

  it("is shown again long after an edit that ended anywhere", async () => {
    const hide = hideAfter(() => new Promise(() => undefined));
    hide.catch(() => undefined);
    await vi.waitFor(async () => expect(await isPrivate(first)).toEqual(hidden));
    const at = async (minutes: number): Promise<void> =>
      copyToShards(systemCtx({ DB: env.DIRECTORY_DB, ...SHARDS }, NOW + minutes * 60_000));
    await at(9);
    expect(await isPrivate(first)).toEqual(hidden);
    await at(11);
    expect(await isPrivate(first)).toEqual(shown);
    await expectNothingHidden();
  });

  it("is not found if it is deleted meanwhile", async () => {
    await copyAll();
    await directory.run(sql`delete from repositories where id = 3`);
    expect(await hideAfter(() => Promise.resolve())).toEqual([[]]);
    await expectNothingHidden();
  });

  it("is public again in the copies if the first database refuses it", async () => {
    await directory.run(sql`
      create trigger refuse before update of is_private on repositories
      when new.is_private begin select raise(abort, 'refused'); end`);
    try {
      const visit = open(SHARDS);
      expect((await visit("PATCH", "/api/v1/repos/a/r", PRIVATE)).status).toBe(500);
    } finally {
      await directory.run(sql`drop trigger refuse`);
    }
    expect(await isPrivate(directory)).toEqual(shown);
    await copyAll();
    await expectCopies();
    expect(await isPrivate(first)).toEqual(shown);
    await expectNothingHidden();
  });
});
