import { asc, eq } from "drizzle-orm";

import { sendEntries } from "../../../src/domain/cross-shard/send-entries.ts";
import {
  crossShardDependencies,
  crossShardEntries,
  crossShardReferences,
  type Issue,
  timelineEntries,
} from "../../../src/db/schema/index.ts";
import { env } from "cloudflare:workers";

import { intercepted } from "../../support/intercepted-database.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { ctxOf, makeIssueOf, makeRepoIn, SHARDS, shardOf } from "../notifications/sharded-scene.ts";

const queue = { send: async () => undefined, sendBatch: async () => undefined };
const QUEUES = { EVENT_JOBS: queue, DELIVERY_JOBS: queue } as unknown as Pick<
  Env,
  "EVENT_JOBS" | "DELIVERY_JOBS"
>;

/** The bindings of a service with two shards, whose jobs do not run by themselves. */
export const BINDINGS = { DB: env.DB, ...SHARDS, ...QUEUES };

/** Requests the API of a service with two shards. */
export const callSharded = serviceWith({}, BINDINGS);

/** The same for a service that allows no dependencies across repositories. */
export const callStrict = serviceWith({ ALLOW_CROSS_REPOSITORY_DEPENDENCIES: "false" }, BINDINGS);

/** The call, counted over all databases, that fails; whether it takes effect, and whether any other one is made after it. */
export interface Fault {
  readonly at: number;
  readonly isDone: boolean;
  readonly isDeath: boolean;
  calls: number;
}

/** How a call fails. */
export const FAILURES = [
  ["a call that fails", { isDone: false, isDeath: false }],
  ["a death before a call", { isDone: false, isDeath: true }],
  ["a death after a call", { isDone: true, isDeath: true }],
  ["a call whose answer is lost", { isDone: true, isDeath: false }],
] as const;

const faulty = (d1: D1Database, fault: Fault): D1Database =>
  intercepted(d1, async (call) => {
    const at = fault.calls++;
    if (at < fault.at || (at > fault.at && !fault.isDeath)) return call();
    if (at === fault.at && fault.isDone) await call();
    throw new Error("no answer");
  });

/** The databases of the service, of which a call fails. */
export const faultyDatabases = (fault: Fault) => ({
  DB: faulty(env.DB, fault),
  SHARD_1: faulty(SHARDS.SHARD_1, fault),
  SHARD_2: faulty(SHARDS.SHARD_2, fault),
});

/** The same service, whose databases fail. */
export const callFaulty = (fault: Fault) =>
  serviceWith({}, { ...BINDINGS, ...faultyDatabases(fault) });

export type Place = readonly [TestRepo, Issue];

/** Issues of one owner, each in a repository of its own. */
export async function makePlaces(
  ...numbers: number[]
): Promise<{ owner: TestUser; places: Place[] }> {
  const owner = await make.user();
  const places: Place[] = [];
  for (const shard of numbers) {
    const repo = await makeRepoIn(shard, owner);
    places.push([repo, await makeIssueOf(repo)]);
  }
  return { owner, places };
}

/** The path of an issue, or of what belongs to it. */
export const pathOf = ([repo, { number }]: Place, rest = ""): string =>
  `/repos/${repo.owner}/${repo.name}/issues/${number}${rest}`;

export const nameOf = ([repo, { number }]: Place) => ({
  owner: repo.owner,
  repo: repo.name,
  index: number,
});

/** Sends what databases have for one another, as the schedule does. */
export async function sendAll(afterMs = 0): Promise<void> {
  for (const shard of [0, 1, 2]) {
    const ctx = ctxOf();
    // Entries of requests have the time of the machine.
    await sendEntries({ ...ctx, db: ctx.openShard(shard), now: Date.now() + afterMs });
  }
}

/** What the database of an issue has in its timeline, with the issue and the comment of another database. */
export const entriesOf = async ([{ shard }, { id }]: Place) =>
  (
    await shardOf(shard)
      .select()
      .from(timelineEntries)
      .leftJoin(crossShardReferences, eq(crossShardReferences.entryId, timelineEntries.id))
      .where(eq(timelineEntries.issueId, id))
      .orderBy(asc(timelineEntries.id))
  ).map(({ timeline_entries: entry, cross_shard_references: told }) => [
    entry.kind,
    told?.issueId ?? entry.otherIssueId,
  ]);

/** The ids of the issues of other databases for which one waits. */
export const blockersOf = async ([{ shard }, { id }]: Place): Promise<number[]> =>
  (
    await shardOf(shard)
      .select()
      .from(crossShardDependencies)
      .where(eq(crossShardDependencies.issueId, id))
  ).map(({ blockerId }) => blockerId);

/** What the database of an issue has for timelines of others that tell of it. */
export const sentBy = ([{ shard }, { id }]: Place) =>
  shardOf(shard)
    .select()
    .from(crossShardEntries)
    .where(eq(crossShardEntries.issueId, id))
    .orderBy(asc(crossShardEntries.id));
