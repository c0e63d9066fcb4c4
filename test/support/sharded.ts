import { env } from "cloudflare:workers";

import type { Ctx } from "../../src/context.ts";
import { type Database, openDatabase } from "../../src/db/db.ts";
import {
  events,
  hooks,
  type Hook,
  repositories,
  type Repository,
  users,
  type User,
} from "../../src/db/schema/index.ts";
import { handleBatch, type Job } from "../../src/jobs/index.ts";
import { copiedTables } from "../../src/db/copies/copied-tables.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../src/domain/repos/default-settings.ts";
import { copyToShards } from "../../src/domain/shards/copy-to-shards.ts";
import { only } from "../../src/lib/only.ts";
import { SETTINGS } from "./deliveries.ts";
import { emptyTables } from "./empty-tables.ts";
import { intercepted } from "./intercepted-database.ts";
import { freshName } from "./make.ts";
import { systemCtx } from "./system.ts";
import { migrate } from "./migrate.ts";

/** A service with three shards: its first database, and theirs, which are no other test's. */
export const SHARDED = {
  DB: env.DIRECTORY_DB,
  SHARD_0: undefined,
  SHARD_1: env.TEST_SHARD_1,
  SHARD_2: env.TEST_SHARD_2,
  SHARD_3: env.TEST_SHARD_3,
};
export const directory = openDatabase(env.DIRECTORY_DB.withSession("first-primary"));
const shards = [env.TEST_SHARD_1, env.TEST_SHARD_2, env.TEST_SHARD_3].map((d1, at) =>
  openDatabase(d1.withSession("first-primary"), at + 1),
);
export const shardDatabase = (number: number): Database =>
  number === 0 ? directory : (shards[number - 1] as Database);

/** Empties the databases, and sets the shards up. */
export async function openSharded(): Promise<void> {
  for (const d1 of [env.DIRECTORY_DB, env.TEST_SHARD_1, env.TEST_SHARD_2, env.TEST_SHARD_3]) {
    await migrate(d1);
  }
  const own = ["hook_deliveries", "webhook_events", "hooks", "events", "event_cursors", "issues"];
  const copied = copiedTables()
    .map(({ name }) => name)
    .toReversed();
  const rest = [
    "relayed_events",
    "shard_repositories",
    "account_shards",
    "noted_accounts",
    "shards",
    "id_ranges",
    "copied_changes",
    "shard_copies",
  ];
  await emptyTables([directory, ...shards], ["sqlite_sequence", ...own, ...copied, ...rest]);
  await copy();
}

/** Brings the copies up to date. */
export const copy = (): Promise<void> => copyToShards(shardedCtx());

/** The messages that were sent to queues. */
export type Sent = { body: Job; delaySeconds?: number }[];

/** The context of jobs of the service. Messages are noted in `sent`. */
export function shardedCtx(bindings: object = {}, sent: Sent = [], now = Date.now()): Ctx {
  const queue = {
    send: async (body: Job) => void sent.push({ body }),
    sendBatch: async (messages: Sent) => void sent.push(...messages),
  } as unknown as Queue<never>;
  const queues = {
    EVENT_JOBS: queue,
    DELIVERY_JOBS: queue,
    REMOTE_JOBS: queue,
    STORAGE_JOBS: queue,
  };
  return systemCtx({ ...SHARDED, ...queues, ...bindings }, now, SETTINGS);
}

/** Handles a message as the runtime would. @returns Whether it is to be repeated. */
export async function handleMessage(body: Job, openCtx: () => Ctx): Promise<boolean> {
  let isRetried = false;
  const deferred: Promise<unknown>[] = [];
  const message = { id: "1", body, ack: () => undefined, retry: () => (isRetried = true) };
  await handleBatch({ messages: [message as never] }, () => ({
    ...openCtx(),
    defer: (work) => void deferred.push(work.catch(() => undefined)),
  }));
  await Promise.all(deferred);
  return isRetried;
}

/** Handles messages, and those that follow from them, until none is left. */
export async function handleAll(first: readonly Job[]): Promise<void> {
  const sent: Sent = first.map((body) => ({ body }));
  for (let job = sent.shift(); job; job = sent.shift()) {
    await handleMessage(job.body, () => shardedCtx({}, sent));
  }
}

/** An account of the first database. */
export async function makeAccount(kind: User["kind"] = "user"): Promise<User> {
  const name = freshName(kind);
  const times = { createdAt: 1000, updatedAt: 1000 };
  const lowerName = name.toLowerCase();
  return only(
    await directory
      .insert(users)
      .values({ kind, name, lowerName, email: `${name}@example.com`, ...times })
      .returning(),
  );
}

/** A public repository whose own data is in a shard. */
export async function makeRepository(owner: User, shard: number): Promise<Repository> {
  const name = freshName("repo");
  const made = only(
    await directory
      .insert(repositories)
      .values({
        ownerId: owner.id,
        ownerLowerName: owner.lowerName,
        name,
        lowerName: name.toLowerCase(),
        shard,
        isPrivate: false,
        visibility: "public",
        defaultBranch: "main",
        objectName: crypto.randomUUID(),
        networkName: crypto.randomUUID(),
        pullSettings: DEFAULT_PULL_SETTINGS,
        issueSettings: DEFAULT_ISSUE_SETTINGS,
        createdAt: 1000,
        updatedAt: 1000,
      })
      .returning(),
  );
  await copy();
  return made;
}

/** An active hook for changes of repositories. */
export const makeHookIn = async (
  db: Database,
  fields: Pick<Hook, "level" | "url"> & Partial<Hook>,
): Promise<Hook> =>
  only(
    await db
      .insert(hooks)
      .values({
        approverId: 0,
        type: "gitea",
        contentType: "json",
        chat: {},
        events: ["repository"],
        isActive: true,
        createdAt: 1000,
        updatedAt: 1000,
        ...fields,
      })
      .returning(),
  );

/** Events of a database, oldest first. */
export const eventsIn = (db: Database) => db.select().from(events).orderBy(events.id);

/** Which call of several databases fails, and how: as in test/support/faults.ts. */
export interface DatabaseFaults {
  readonly at: number;
  readonly isDone: boolean;
  readonly isDeath: boolean;
  calls: number;
}

/** A database of which one call fails, counted together with those of others. */
export const failingDatabase = (d1: D1Database, faults: DatabaseFaults): D1Database =>
  intercepted(d1, async (call) => {
    const at = faults.calls++;
    if (at < faults.at || (at > faults.at && !faults.isDeath)) return call();
    if (at === faults.at && faults.isDone) await call();
    throw new Error("no answer");
  });
