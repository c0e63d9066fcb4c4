import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { Database } from "../../src/db/db.ts";
import { meterD1 } from "../../src/db/meter.ts";
import { topics } from "../../src/db/schema/index.ts";
import { db as shared } from "../support/db.ts";
import { freshName } from "../support/make.ts";

const TIMES = { createdAt: 1000, updatedAt: 1000 };

let name: string;
beforeEach(async () => {
  name = freshName("topic");
  await shared.insert(topics).values({ ...TIMES, name });
});

/** Whether the meter says that calls of a session have written. */
async function hasWritten(run: (db: Database) => Promise<unknown>): Promise<boolean> {
  const { d1, usage } = meterD1(env.DB.withSession("first-primary"), { rows: false });
  await run(new Database(d1));
  return usage.hasWritten;
}

describe("the meter of D1", () => {
  const isIt = () => eq(topics.name, name);
  const isNone = sql`0`;

  it.each<[string, (db: Database) => Promise<unknown>]>([
    ["an insert", (db) => db.insert(topics).values({ ...TIMES, name: freshName("topic") })],
    [
      "an insert that returns its row",
      (db) =>
        db
          .insert(topics)
          .values({ ...TIMES, name: freshName("topic") })
          .returning(),
    ],
    ["an update", (db) => db.update(topics).set({ repoCount: 1 }).where(isIt())],
    [
      "an update that returns its row",
      (db) => db.update(topics).set({ repoCount: 1 }).where(isIt()).returning(),
    ],
    ["a deletion", (db) => db.delete(topics).where(isIt())],
    ["one write of a batch", (db) => db.batch([db.select().from(topics), db.delete(topics)])],
    [
      "an update with a table of its own",
      (db) =>
        db.all(sql`
          with named as (select ${name} as name)
          update ${topics} set repo_count = 2 where name in (select name from named) returning id`),
    ],
  ])("notes %s", async (_, run) => {
    expect(await hasWritten(run)).toBe(true);
  });

  it.each<[string, (db: Database) => Promise<unknown>]>([
    ["a read", (db) => db.select().from(topics).where(isIt())],
    ["a batch of reads", (db) => db.batch([db.select().from(topics), db.select().from(topics)])],
    [
      "an insert of what is there",
      (db) =>
        db
          .insert(topics)
          .values({ ...TIMES, name })
          .onConflictDoNothing(),
    ],
    [
      "the same that would return its row",
      (db) =>
        db
          .insert(topics)
          .values({ ...TIMES, name })
          .onConflictDoNothing()
          .returning(),
    ],
    [
      "an update whose condition fails",
      (db) => db.update(topics).set({ repoCount: 1 }).where(isNone),
    ],
    ["a deletion of nothing", (db) => db.delete(topics).where(isNone).returning()],
    [
      "a batch that is rolled back",
      (db) =>
        db
          .batch([
            db.delete(topics).where(isIt()),
            db.insert(topics).values({ ...TIMES, name: sql`null` }),
          ])
          .catch(() => undefined),
    ],
  ])("does not note %s", async (_, run) => {
    expect(await hasWritten(run)).toBe(false);
  });
});
