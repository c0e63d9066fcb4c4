import { type SQL, sql } from "drizzle-orm";

import type { Database } from "../../db/db.ts";
import { reposOf } from "../../db/moves/move-sql.ts";
import { giveCopies } from "../cross-shard/give-copies.ts";
import type { OpenedMove } from "./opened-move.ts";

/** Entries, and dependencies, that one batch changes. */
const CHANGED_AT_ONCE = 200;

const OF_DEPENDENCY = sql.raw("('add_dependency', 'remove_dependency')");

const issuesOf = (repos: SQL): SQL => sql`(select id from issues where repo_id in ${repos})`;

/** Entries of timelines by which issues of these repositories and of others refer to one another with foreign keys. */
const nearEntries = (repos: SQL): SQL => sql`
  select id from timeline_entries
  where repo_id in ${repos} and other_issue_id is not null
    and other_issue_id not in ${issuesOf(repos)}
  union all
  select id from timeline_entries
  where other_issue_id in ${issuesOf(repos)} and repo_id not in ${repos}`;

/** Dependencies between issues of these repositories and of others in one database. */
const nearDependencies = (repos: SQL): SQL => sql`
  select issue_id as "issueId", blocker_id as "blockerId" from issue_dependencies
  where issue_id in ${issuesOf(repos)} and blocker_id not in ${issuesOf(repos)}
  union all
  select issue_id, blocker_id from issue_dependencies
  where blocker_id in ${issuesOf(repos)} and issue_id not in ${issuesOf(repos)}`;

/** Whether issues of the moving repositories and of others in the source refer to one another with foreign keys, which can't lead to another database. */
export async function hasNearReferences({ source, move, budget }: OpenedMove): Promise<boolean> {
  budget.consume(1);
  const repos = reposOf(move.id);
  const [found] = await source.all<{ found: number }>(sql`
    select exists (${nearEntries(repos)}) or exists (${nearDependencies(repos)}) as found`);
  return found?.found === 1;
}

/**
 * Turns some of these references into those between databases, while both issues are still in the source: what reads and writes them asks for the
 * database of each issue, and finds the one also if it is the same. Safe to repeat: what has changed meanwhile is left as it is.
 *
 * If the move is given up, they stay as they have become.
 *
 * @returns Whether there were any.
 */
export async function makeReferencesFar({ source, move, budget }: OpenedMove): Promise<boolean> {
  const repos = reposOf(move.id);
  budget.consume(2);
  const [entries, dependencies] = (await source.batch([
    source.textStatement(sql`
      select id from (${nearEntries(repos)}) limit ${CHANGED_AT_ONCE}`),
    source.textStatement(sql`
      select "issueId", "blockerId" from (${nearDependencies(repos)}) limit ${CHANGED_AT_ONCE}`),
  ])) as unknown as [{ id: number }[], Dependency[]];
  if (entries.length === 0 && dependencies.length === 0) return false;
  const [first, ...rest] = [
    ...makeEntriesFar(entries.map(({ id }) => id)),
    ...makeDependenciesFar(dependencies),
  ].map((statement) => source.textStatement(statement));
  budget.consume(1 + rest.length);
  if (first) await source.batch([first, ...rest]);
  return true;
}

/** What an entry tells of is noted beside that, as if it had been sent from there. The number of attempts marks which is whose, for this batch. */
function makeEntriesFar(ids: readonly number[]): SQL[] {
  const those = sql`(select value from json_each(${JSON.stringify(ids)}))`;
  const from = sql`
    from timeline_entries t
    join issues other on other.id = t.other_issue_id
    join issues target on target.id = t.issue_id`;
  return [
    sql`
      insert into cross_shard_entries (
        repo_id, issue_id, is_pull, comment_id, to_repo_id, to_issue_id, to_number,
        kind, ref_action, poster_id, state, attempts, created_at
      )
      select other.repo_id, other.id, other.is_pull, t.other_entry_id,
        target.repo_id, target.id, target.number,
        t.kind, t.ref_action, t.poster_id, 'sent', -t.id, t.created_at
      ${from}
      where t.id in ${those} and t.kind not in ${OF_DEPENDENCY}
      order by t.id`,
    sql`
      insert into cross_shard_references (
        entry_id, sent_id, repo_id, issue_id, is_pull, comment_id
      )
      select t.id, sent.id, other.repo_id, other.id, other.is_pull, t.other_entry_id
      ${from}
      left join cross_shard_entries sent on sent.issue_id = other.id and sent.attempts = -t.id
      where t.id in ${those}`,
    noteDependencies(sql`
      select other_issue_id as id, issue_id as to_id from timeline_entries
      where id in ${those} and kind in ${OF_DEPENDENCY}`),
    sql`
      update cross_shard_entries set attempts = 0
      where attempts < 0 and issue_id in (
        select other_issue_id from timeline_entries where id in ${those}
      )`,
    sql`
      update timeline_entries set other_issue_id = null, other_entry_id = null
      where id in ${those}`,
  ];
}

/** An issue, and one that blocks it. */
interface Dependency {
  readonly issueId: number;
  readonly blockerId: number;
}

function makeDependenciesFar(pairs: readonly Dependency[]): SQL[] {
  const keys = JSON.stringify(pairs.map(({ issueId, blockerId }) => [issueId, blockerId]));
  const those = sql`(select value ->> 0, value ->> 1 from json_each(${keys}))`;
  const found = sql`from issue_dependencies where (issue_id, blocker_id) in ${those}`;
  return [
    noteDependencies(sql`
      select issue_id as id, blocker_id as to_id ${found}
      union select blocker_id, issue_id ${found}`),
    // One that is being added may have left a candidate.
    sql`
      insert into cross_shard_dependencies (
        issue_id, blocker_id, blocker_repo_id, blocker_created_at, is_checked, created_at
      )
      select d.issue_id, d.blocker_id, blocker.repo_id, blocker.created_at, 1, d.created_at
      from (select * ${found}) d
      join issues blocker on blocker.id = d.blocker_id
      where true
      on conflict (issue_id, blocker_id) do update set is_checked = 1`,
    sql`delete ${found}`,
  ];
}

/**
 * Notes beside issues that others have something of a dependency with them, which goes when they are deleted.
 *
 * @param pairs Selects an issue as `id`, and the other one as `to_id`.
 */
const noteDependencies = (pairs: SQL): SQL => sql`
  insert into cross_shard_entries (
    repo_id, issue_id, is_pull, to_repo_id, to_issue_id, to_number, kind, state, created_at
  )
  select distinct noted.repo_id, noted.id, noted.is_pull, other.repo_id, other.id, 0,
    'add_dependency', 'sent', noted.created_at
  from (${pairs}) pair
  join issues noted on noted.id = pair.id
  join issues other on other.id = pair.to_id
  where not exists (
    select 1 from cross_shard_entries known
    where known.issue_id = noted.id and known.to_issue_id = other.id
      and known.kind in ${OF_DEPENDENCY}
  )`;

/** Gives the target copies of the repositories of which timelines of the moving ones tell: nobody sees an entry without them. */
export async function giveToldCopies({ ctx, source, move, budget }: OpenedMove): Promise<void> {
  budget.consume(5);
  const told = await selectTold(source, reposOf(move.id));
  await giveCopies(
    ctx,
    told.map(({ repoId }) => ({ shardId: move.target, repoId })),
  );
}

const selectTold = (db: Database, repos: SQL) =>
  db.all<{ repoId: number }>(sql`
    select distinct told.repo_id as "repoId"
    from cross_shard_references told
    join timeline_entries t on t.id = told.entry_id
    where t.repo_id in ${repos}`);
