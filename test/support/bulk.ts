import { sql } from "drizzle-orm";

import type { Repository, User } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";
import { make } from "./make.ts";

/**
 * Inserts `n` public repositories of `owner` with default settings, in one statement.
 *
 * Creates one more repository of `owner` as the template of their rows. Tests select the rows by
 * `owner_id`.
 */
export async function makeManyRepositories(owner: User, prefix: string, n: number): Promise<void> {
  const { id } = await make.repo(owner, { name: `${prefix}-model` });
  const numbers = JSON.stringify(Array.from({ length: n }, (_, at) => at));
  await db.run(sql`
    insert into repositories (owner_id, name, lower_name, is_private, default_branch, pull_settings,
      issue_settings, created_at, updated_at)
    select owner_id, ${prefix} || '-' || value, ${prefix} || '-' || value, 0, default_branch,
      pull_settings, issue_settings, 1000 + value, 1000 + value
    from repositories, json_each(${numbers}) where repositories.id = ${id}`);
}

/**
 * Inserts `n` `repository.created` events by `actor` in one statement, each one second after the
 * previous one.
 *
 * @param firstAt Time of the first event, in milliseconds.
 */
export async function insertManyEvents(
  { id, ownerId }: Repository,
  actor: Pick<User, "id">,
  n: number,
  firstAt: number,
): Promise<void> {
  const numbers = JSON.stringify(Array.from({ length: n }, (_, at) => at));
  await db.run(sql`
    insert into events (
      type, actor_id, owner_id, repo_id, visibility, is_private, payload, created_at
    )
    select 'repository.created', ${actor.id}, ${ownerId}, ${id}, 'public', false, '{"name":"many"}', ${firstAt} + value * 1000
    from json_each(${numbers})`);
}

/**
 * Inserts a merged pull request for each of some merge commits, by some users in turn, in two
 * statements.
 *
 * @param commitOids In the order in which they were merged, one millisecond after the other.
 */
export async function insertManyMerged(
  { id, ownerId }: Repository,
  posters: readonly Pick<User, "id">[],
  commitOids: readonly string[],
): Promise<void> {
  const rows = JSON.stringify(
    commitOids.map((oid, at) => ({ oid, poster: posters[at % posters.length]?.id })),
  );
  await db.run(sql`
    insert into issues (repo_id, number, is_pull, is_closed, poster_id, title, created_at, updated_at)
    select ${id}, key + 1, 1, 1, value ->> 'poster', 'Change ' || key, 1000, 1000
    from json_each(${rows})`);
  await db.run(sql`
    insert into pulls (issue_id, repo_id, head_repo_id, head_branch, base_branch, head_oid,
      merge_commit_oid, merged_at, merger_id, merge_kind, is_closed)
    select issues.id, ${id}, ${id}, 'b' || key, 'main', value ->> 'oid', value ->> 'oid',
      1000 + key, ${ownerId}, 'merge', 1
    from json_each(${rows}) join issues on issues.repo_id = ${id} and issues.number = key + 1`);
}
