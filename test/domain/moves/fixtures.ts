import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { getTableColumns, is } from "drizzle-orm";
import { afterAll, beforeEach, expect } from "vitest";

import type { Database } from "../../../src/db/db.ts";
import { listed, isOfRepositories } from "../../../src/db/moves/move-sql.ts";
import { movedTables } from "../../../src/db/moves/moved-tables.ts";
import * as schema from "../../../src/db/schema/index.ts";
import type { Repository, RepositoryMove, User } from "../../../src/db/schema/index.ts";
import { runMove } from "../../../src/domain/moves/run-moves.ts";
import { only } from "../../../src/lib/only.ts";
import {
  copy,
  directory,
  makeAccount,
  makeRepository,
  openSharded,
  shardDatabase,
  shardedCtx,
} from "../../support/sharded.ts";
import { migrate } from "../../support/migrate.ts";

const TABLES = new Map(
  Object.values(schema as Record<string, unknown>)
    .filter((each): each is SQLiteTable => is(each, SQLiteTable))
    .map((table) => [getTableConfig(table).name, table]),
);

for (const d1 of [env.DIRECTORY_DB, env.TEST_SHARD_1, env.TEST_SHARD_2, env.TEST_SHARD_3]) {
  await migrate(d1);
}

/** The first database, and the shards. */
export const shardNumbers = [0, 1, 2, 3] as const;

/** Lets each test start from empty databases, which other files have as well. */
export function withMoves(): void {
  beforeEach(openMoves);
  afterAll(openMoves);
}

async function openMoves(): Promise<void> {
  for (const number of shardNumbers) {
    const db = shardDatabase(number);
    await db.run(sql`delete from move_sides`);
    await db.run(sql`delete from shard_copies`);
    await db.run(sql`insert into shard_copies (shard_id, change_id, is_copying) values (1, 0, 1)`);
    for (const { name } of movedTables().toReversed()) {
      await db.run(sql`delete from ${sql.identifier(name)}`);
    }
    await db.run(sql`delete from attachment_loose_files`);
    await db.run(sql`delete from moving_repositories`);
    await db.run(sql`delete from move_changes`);
    await db.run(sql`delete from repository_moves`);
    await db.run(sql`delete from shard_tasks`);
  }
  await openSharded();
}

let serial = 0;
/** A text or a number that no other row has. */
export const fresh = (): number => (serial += 1);

type Value = string | number | null;

/** Inserts a row, with values of the right kind where none are named. */
export async function insertRow(
  db: Database,
  name: string,
  values: Readonly<Record<string, Value>>,
): Promise<number> {
  const table = TABLES.get(name);
  if (!table) throw new Error(`no table ${name}`);
  const row: Record<string, Value> = {};
  for (const column of Object.values(getTableColumns(table))) {
    const key = toSnakeCase(column.name);
    if (values[key] !== undefined) row[key] = values[key];
    else if (column.notNull && !column.hasDefault && !column.primary) {
      row[key] = column.columnType === "SQLiteTextJson" ? "{}" : defaultOf(column.dataType);
    }
  }
  const columns = Object.keys(row).map((key) => sql.identifier(key));
  const [made] = await db.all<{ id: number }>(sql`
    insert into ${sql.identifier(name)} (${sql.join(columns, sql`, `)})
    values (${sql.join(
      Object.values(row).map((value) => sql`${value}`),
      sql`, `,
    )}) returning rowid as id`);
  return only(made ? [made] : []).id;
}

const defaultOf = (type: string): Value => (type === "string" ? `text ${fresh()}` : 1);

/** A repository with a fork, people, and rows of every table that moves. */
export interface Network {
  readonly owner: User;
  readonly other: User;
  readonly repo: Repository;
  readonly fork: Repository;
  readonly repoIds: readonly number[];
}

export async function makeNetwork(shard: number): Promise<Network> {
  const [owner, other] = [await makeAccount(), await makeAccount()];
  const repo = await makeRepository(owner, shard);
  const fork = await makeRepository(other, shard);
  await directory.run(sql`
    update repositories set network_name = ${repo.networkName}, parent_id = ${repo.id}, is_fork = 1
    where id = ${fork.id}`);
  await copy();
  const network = { owner, other, repo, fork, repoIds: [repo.id, fork.id] };
  const db = shardDatabase(shard);
  await insertRows(db, repo, owner, other, fork.id);
  await insertRows(db, fork, other, owner, repo.id);
  return network;
}

/** Inserts rows of every table. */
async function insertRows(
  db: Database,
  { id: repo_id }: Repository,
  owner: User,
  other: User,
  head_repo_id: number,
): Promise<void> {
  const own = { repo_id };
  const milestone_id = await insertRow(db, "milestones", own);
  const label_id = await insertRow(db, "labels", { ...own, color: "00ff00" });
  const release_id = await insertRow(db, "releases", { ...own, publisher_id: owner.id });
  const issue = (number: number, more = {}) =>
    insertRow(db, "issues", {
      ...own,
      number,
      poster_id: other.id,
      title: `Word${number}`,
      ...more,
    });
  const issue_id = await issue(1, { milestone_id, body: "a body" });
  const blocker_id = await issue(2);
  const pull_id = await issue(3, { is_pull: 1 });
  await insertRow(db, "pulls", { ...own, issue_id: pull_id, head_repo_id });
  const review_id = await insertRow(db, "reviews", {
    ...own,
    issue_id: pull_id,
    reviewer_id: owner.id,
    state: "approved",
  });
  const entry = (more: Record<string, Value>) =>
    insertRow(db, "timeline_entries", { ...own, issue_id, kind: "comment", ...more });
  const comment = await entry({ poster_id: other.id, body: "Grüße – 'quoted' \"text\" \\ 🦊" });
  await entry({ kind: "label", label_id, body: "1" });
  await entry({ kind: "issue_ref", other_issue_id: blocker_id, milestone_id });
  const code = await entry({ issue_id: pull_id, kind: "code", review_id });
  await insertRow(db, "code_comments", { entry_id: code, review_id, issue_id: pull_id });
  await insertRow(db, "content_versions", { issue_id, entry_id: comment, editor_id: owner.id });
  await insertRow(db, "reactions", { issue_id, entry_id: comment, user_id: owner.id });
  await insertRow(db, "attachments", { ...own, issue_id, entry_id: comment });
  await insertRow(db, "attachments", { ...own, release_id });
  const ofIssue = { issue_id, is_pull: 0, is_closed: 0 };
  await insertRow(db, "issue_labels", { ...own, ...ofIssue, label_id });
  const ofUser = { issue_id, user_id: other.id };
  await insertRow(db, "issue_assignees", { ...own, ...ofUser });
  await insertRow(db, "issue_mentions", { ...own, ...ofUser });
  await insertRow(db, "issue_subscriptions", { ...ofUser, is_subscribed: 1 });
  await insertRow(db, "issue_dependencies", { issue_id, blocker_id });
  const elsewhere = await entry({ kind: "issue_ref" });
  const far = { repo_id: 4e12, issue_id: 4e12 };
  await insertRow(db, "cross_shard_references", { entry_id: elsewhere, ...far });
  await insertRow(db, "cross_shard_dependencies", { issue_id, blocker_id: 4e12, is_checked: 1 });
  await insertRow(db, "cross_shard_entries", {
    ...own,
    issue_id,
    state: "sent",
    kind: "issue_ref",
  });
  await insertRow(db, "stopwatches", ofUser);
  await insertRow(db, "tracked_times", { ...own, ...ofUser });
  await insertRow(db, "scheduled_merges", { ...own, issue_id: pull_id, doer_id: owner.id });
  const queue_id = await insertRow(db, "merge_queues", { ...own, due_at: 4e12 });
  await insertRow(db, "merge_queue_entries", { queue_id, issue_id: pull_id, doer_id: owner.id });
  await insertRow(db, "branch_protections", own);
  await insertRow(db, "tag_protections", own);
  await insertRow(db, "branch_tips", { ...own, branch: "main", oid: "0".repeat(40) });
  await insertRow(db, "commit_statuses", own);
  await insertRow(db, "repository_insights", own);
  await insertRow(db, "lfs_objects", { ...own, oid: `${fresh()}` });
  await insertRow(db, "lfs_locks", { ...own, owner_id: owner.id });
  await insertRow(db, "pull_mirrors", { ...own, due_at: 4e12 });
  await insertRow(db, "push_mirrors", { ...own, due_at: 4e12 });
  const import_id = await insertRow(db, "imports", { ...own, state: "done", service: "git" });
  await insertRow(db, "import_answers", { import_id, url: "https://a.example/" });
  await insertRow(db, "foreign_items", { ...own, kind: "issue", foreign_id: "7" });
  const event_id = await insertRow(db, "events", {
    ...own,
    actor_id: owner.id,
    owner_id: owner.id,
  });
  const hook_id = await insertRow(db, "hooks", { ...own, level: "repository", type: "gitea" });
  const webhook_event_id = await insertRow(db, "webhook_events", { ...own, event_id, part: 0 });
  await insertRow(db, "hook_deliveries", { hook_id, webhook_event_id, next_attempt_at: 4e12 });
}

/** The rows of repositories in a database, by table. */
export async function rowsIn(shard: number, repoIds: readonly number[]) {
  const db = shardDatabase(shard);
  const rows = new Map<string, unknown[]>();
  for (const table of movedTables()) {
    const list = table.columns.map(
      (column) => sql`${sql.identifier(table.name)}.${sql.identifier(column)}`,
    );
    rows.set(
      table.name,
      await db.all(sql`
        select ${sql.join(list, sql`, `)} from ${sql.identifier(table.name)}
        where ${isOfRepositories(table, listed(repoIds))} order by ${sql.raw(table.key.join(", "))}`),
    );
  }
  return rows;
}

/** What its database owns in the rows of repositories. */
export const ownedIn = (shard: number, repoIds: readonly number[]) =>
  shardDatabase(shard).all<Record<string, Value>>(sql`
    select id, is_empty, default_branch, size_bytes, last_issue_number, open_issue_count,
      closed_issue_count, open_pull_count, closed_pull_count, release_count, origin
    from repositories where id in ${listed(repoIds)} order by id`);

/** Starts a move, as the API does after its checks. */
export async function startMove({ repo }: Pick<Network, "repo">, source: number, target: number) {
  const [move] = await directory
    .insert(schema.repositoryMoves)
    .values({
      networkName: repo.networkName,
      repoId: repo.id,
      repoName: "a/b",
      source,
      target,
      dueAt: 0,
      createdAt: 1,
    })
    .returning();
  return only(move ? [move] : []);
}

export const moveOf = async (id: number): Promise<RepositoryMove> => {
  const rows = await directory.select().from(schema.repositoryMoves);
  return only(rows.filter((each) => each.id === id));
};

/** Runs the job, which is always due, until a move is in one of these states. */
export async function runUntil(
  id: number,
  states: readonly RepositoryMove["state"][],
  { runsMax = 50, run = () => runMove(shardedCtx(), id) } = {},
): Promise<RepositoryMove> {
  for (let runs = 0; runs < runsMax; runs++) {
    const move = await moveOf(id);
    if (states.includes(move.state)) return move;
    await directory.run(sql`
      update repository_moves set due_at = 0, leased_until = 0,
        moved_at = case when state = 'cleaning' then 0 else moved_at end
      where id = ${id}`);
    await run();
  }
  throw new Error(`the move ends as ${JSON.stringify(await moveOf(id))}`);
}

/** The same rows, table by table, so that a difference is shown with its table. */
export function expectSameRows(
  found: ReadonlyMap<string, unknown[]>,
  expected: ReadonlyMap<string, unknown[]>,
): void {
  for (const [table, rows] of expected) expect(found.get(table), table).toEqual(rows);
}
