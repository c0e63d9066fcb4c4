import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeAll } from "vitest";

import { type Database, openDatabase } from "../../src/db/db.ts";
import {
  packageShards,
  repositories,
  shardRepositories,
  type Repository,
  type User,
} from "../../src/db/schema/index.ts";
import type { Ctx } from "../../src/context.ts";
import { copyAllTo, withShards } from "./copies.ts";
import { db } from "./db.ts";
import { make, type TestRepo } from "./make.ts";
import { publishedOn, SETTINGS } from "./published-packages.ts";
import { doorsWith } from "./service.ts";
import { systemCtx } from "./system.ts";
import { migrate } from "./migrate.ts";

// A service with two shards. The first database is that of the Worker, so that accounts and repositories are made as everywhere.

const SHARDS = { SHARD_1: env.SCENE_SHARD_1, SHARD_2: env.SCENE_SHARD_2 };
// The consumer of the Worker's queues has no shards: tests run the jobs themselves.
const queue = { send: async () => {}, sendBatch: async () => {} } as unknown as Queue<never>;
/** The bindings of the service. */
export const SHARDED = { DB: env.DB, EVENT_JOBS: queue, DELIVERY_JOBS: queue, ...SHARDS };

for (const shard of Object.values(SHARDS)) await migrate(shard);

/** The databases of the shards, by number. */
export const shards = new Map(
  Object.values(SHARDS).map((d1, at) => [
    at + 1,
    openDatabase(d1.withSession("first-primary"), at + 1),
  ]),
);
export const shardOf = (number: number): Database => shards.get(number) ?? db;

/** Requests any path of the service. */
export const serve = doorsWith(SETTINGS, SHARDED);

/** The formats as this service serves them. */
export const PUBLISHED_THERE = publishedOn(serve);

/** The context of jobs. */
export const ctxOf = (now = Date.now(), bindings: { EVENTS_OUT?: Queue<object> } = {}): Ctx =>
  systemCtx({ ...SHARDED, ...bindings }, now, SETTINGS);

/** Brings the copies up to date. */
export const copyAll = (): Promise<void> => copyAllTo(() => ctxOf());

/** Sets the shards up before the tests of a file, and removes them after these. */
export function withPackageShards(): void {
  withShards();
  beforeAll(async () => {
    for (const shard of shards.values()) await giveOwnEvents(shard);
    await copyAll();
  });
}

/** Lets a shard give events ids of its own range again: other files have some of no range, which are forwarded from nowhere. */
async function giveOwnEvents(shard: Database): Promise<void> {
  for (const table of ["hook_deliveries", "webhook_events", "events", "event_cursors"]) {
    await shard.run(sql`delete from ${sql.identifier(table)}`);
  }
  await shard.run(sql`
    update sqlite_sequence set seq = (select max(number) from id_ranges) * ${2 ** 36}
    where name = 'events' and exists (select 1 from id_ranges)`);
}

/** Chooses the database of an account's packages. */
export async function putPackages({ id: ownerId }: Pick<User, "id">, shard: number): Promise<void> {
  await db.insert(packageShards).values({ ownerId, shard });
  await copyAll();
}

/** A repository whose own data is in a shard. */
export async function makeRepoIn(
  shard: number,
  owner: User,
  fields: Partial<Repository> = {},
): Promise<TestRepo> {
  const repo = await make.repo(owner, fields);
  if (shard !== 0) {
    await db.update(repositories).set({ shard }).where(eq(repositories.id, repo.id));
    await db.insert(shardRepositories).values({ shardId: shard, repoId: repo.id });
  }
  await copyAll();
  return { ...repo, shard };
}
