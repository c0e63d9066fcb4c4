import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { NOTING_TRIGGERS } from "../../../src/db/copies/noted-accounts.ts";
import {
  accountShards,
  events,
  issueAssignees,
  issueMentions,
  notedAccounts,
  reviews,
  stopwatches,
  teamMembers,
  teams,
  trackedTimes,
  users,
  type User,
} from "../../../src/db/schema/index.ts";
import { copyFromShard, copyFromShards } from "../../../src/domain/shards/copy-from-shards.ts";
import { copyToShards } from "../../../src/domain/shards/copy-to-shards.ts";
import { setUpShard } from "../../../src/domain/shards/set-up-shard.ts";
import { type Database, openDatabase } from "../../../src/db/db.ts";
import { only } from "../../../src/lib/only.ts";
import { makeIssue } from "../../support/issues.ts";
import { failing } from "../../support/intercepted-database.ts";
import {
  copy,
  directory,
  makeAccount,
  makeRepository,
  openSharded,
  shardDatabase,
  SHARDED,
  shardedCtx,
} from "../../support/sharded.ts";

beforeEach(openSharded);

/** Which shards the first database has of an account. */
const shardsOf = async ({ id }: Pick<User, "id">) =>
  (await directory.select().from(accountShards).where(eq(accountShards.accountId, id)))
    .map(({ shardId }) => shardId)
    .toSorted((a, b) => a - b);

/** An issue of another account in a shard. */
async function makeScene(shard: number) {
  const owner = await makeAccount();
  const repo = await makeRepository(owner, shard);
  const user = await makeAccount();
  await copy();
  const own = shardDatabase(shard);
  const issue = await makeIssue(repo, {}, own);
  return { owner, repo, user, own, issue };
}

const TIMES = { createdAt: 1000, updatedAt: 1000 };

type Scene = Awaited<ReturnType<typeof makeScene>>;

describe("what a shard has of an account is told to the first database", () => {
  it.each<[string, (scene: Scene) => Promise<unknown>]>([
    ["an issue", ({ repo, user, own }) => makeIssue(repo, { posterId: user.id }, own)],
    [
      "an assignment",
      ({ issue, user, own }) =>
        own
          .insert(issueAssignees)
          .values({ issueId: issue.id, repoId: issue.repoId, userId: user.id, createdAt: 1 }),
    ],
    [
      "a mention",
      ({ issue, user, own }) =>
        own
          .insert(issueMentions)
          .values({ issueId: issue.id, repoId: issue.repoId, userId: user.id }),
    ],
    [
      "a review",
      ({ issue, user, own }) =>
        own.insert(reviews).values({
          issueId: issue.id,
          repoId: issue.repoId,
          reviewerId: user.id,
          state: "request_review",
          ...TIMES,
        }),
    ],
    [
      "a time",
      ({ issue, user, own }) =>
        own.insert(trackedTimes).values({
          issueId: issue.id,
          repoId: issue.repoId,
          userId: user.id,
          seconds: 1,
          createdAt: 1,
          bookedAt: 1,
        }),
    ],
    [
      "a stopwatch",
      ({ issue, user, own }) =>
        own.insert(stopwatches).values({ issueId: issue.id, userId: user.id, createdAt: 1 }),
    ],
    [
      "an event that it caused",
      ({ owner, repo, user, own }) =>
        insertEvent(own, { repo, ownerId: owner.id, actorId: user.id }),
    ],
    [
      "an event of what it owned",
      ({ owner, repo, user, own }) =>
        insertEvent(own, { repo, ownerId: user.id, actorId: owner.id }),
    ],
  ])("%s", async (_, write) => {
    const scene = await makeScene(2);
    await copyFromShards(shardedCtx());
    expect(await shardsOf(scene.user)).toEqual([]);
    await write(scene);
    await write(scene).catch(() => undefined);
    await copyFromShards(shardedCtx());
    expect(await shardsOf(scene.user)).toEqual([2]);
    expect(await scene.own.select().from(notedAccounts)).toSatisfy(
      (rows: { isCopied: boolean }[]) => rows.every(({ isCopied }) => isCopied),
    );
  });

  it("a review that is asked of a team, as its organization's", async () => {
    const { issue, user, own } = await makeScene(3);
    const org = await makeAccount("organization");
    const team = only(
      await directory
        .insert(teams)
        .values({ orgId: org.id, name: "t", lowerName: "t", access: 1, units: {}, createdAt: 1 })
        .returning(),
    );
    await directory.insert(teamMembers).values({ teamId: team.id, userId: user.id });
    await copy();
    const asked = { issueId: issue.id, repoId: issue.repoId, teamId: team.id };
    await own.insert(reviews).values({ ...asked, state: "request_review", ...TIMES });
    await copyFromShards(shardedCtx());
    expect(await shardsOf(org)).toEqual([3]);
    expect(await shardsOf(user)).toEqual([]);
  });

  it("rows from before the triggers", async () => {
    const { user, repo, own } = await makeScene(1);
    for (const name of NOTING_TRIGGERS.keys())
      await own.run(sql`drop trigger ${sql.identifier(name)}`);
    await makeIssue(repo, { posterId: user.id }, own);
    await own.run(sql`delete from noted_accounts`);
    await copyFromShards(shardedCtx());
    expect(await shardsOf(user)).toEqual([]);
    await setUpShard(own, 1, [1]);
    await setUpShard(own, 1, [1]);
    await copyFromShards(shardedCtx());
    expect(await shardsOf(user)).toEqual([1]);
  });

  it("more accounts than one step takes, and none that are gone", async () => {
    const { own } = await makeScene(1);
    await directory.run(sql`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1100)
      insert into users (id, kind, name, lower_name, created_at, updated_at)
      select 100000 + n, 'user', 'u' || n, 'u' || n, 1, 1 from numbers`);
    await own.run(sql`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1101)
      insert into noted_accounts (account_id) select 100000 + n from numbers`);
    await copyFromShard(directory, own);
    const rows = await directory.select().from(accountShards);
    const many = rows.filter(({ accountId }) => accountId > 100_000);
    expect(many).toHaveLength(1100);
    const left = sql`select account_id from noted_accounts where not is_copied`;
    expect(await own.all(left)).toEqual([]);
  });

  // A death between the two databases repeats the step.
  it("whatever call fails, by the next run", async () => {
    for (const at of [0, 1, 2]) {
      for (const isDone of [false, true]) {
        const { user, repo, own } = await makeScene(1);
        await makeIssue(repo, { posterId: user.id }, own);
        const faults = { at, isDone, calls: 0 };
        const [first, shard] = [env.DIRECTORY_DB, SHARDED.SHARD_1].map((d1) =>
          openDatabase(failing(d1, faults).withSession("first-primary")),
        ) as [Database, Database];
        await expect(copyFromShard(first, shard)).rejects.toThrow(/no answer|Failed query/);
        await Promise.all([copyFromShard(directory, own), copyFromShard(directory, own)]);
        expect(await shardsOf(user), `call ${at}`).toEqual([1]);
      }
    }
  });

  it("ends with the account", async () => {
    const { user, repo, own } = await makeScene(1);
    await makeIssue(repo, { posterId: user.id }, own);
    await copyFromShard(directory, own);
    expect(await shardsOf(user)).toEqual([1]);
    await directory.delete(users).where(eq(users.id, user.id));
    expect(await shardsOf(user)).toEqual([]);
    await copyToShards(shardedCtx());
    await copyFromShard(directory, own);
    expect(await shardsOf(user)).toEqual([]);
  });
});

const insertEvent = (
  own: Database,
  { repo, ownerId, actorId }: { repo: { id: number }; ownerId: number; actorId: number },
) =>
  own.insert(events).values({
    type: "issue.opened",
    repoId: repo.id,
    ownerId,
    actorId,
    payload: {},
    createdAt: 1,
  } as never);
