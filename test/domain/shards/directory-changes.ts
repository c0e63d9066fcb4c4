import { type SQL, sql } from "drizzle-orm";

import type { Database } from "../../../src/db/db.ts";
import type { User } from "../../../src/db/schema/index.ts";

/** Draws numbers from a seed, so that a failing test fails again. */
export function drawFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** For names, which are never used twice. */
let serial = 0;

/** Changes of accounts, organizations, teams and repositories, as the service makes them: each a batch. */
export function changesOf(
  db: Database,
  draw: (below: number) => number,
): readonly (() => Promise<unknown>)[] {
  const next = (): string => `n${(serial += 1)}`;
  const number = (): number => draw(1000);
  /** An order of rows that is drawn. */
  const shuffled = (...ids: string[]): SQL =>
    sql`order by (${sql.raw(ids.join(" * 7919 + "))} * 31 + ${draw(10_007)}) * 7919 % 10007`;
  const anyOf = (kind: User["kind"]): SQL =>
    sql`(select id from users where kind = ${kind} ${shuffled("id")} limit 1)`;
  const any = (table: "teams" | "repositories" | "access_tokens"): SQL =>
    sql`(select id from ${sql.identifier(table)} ${shuffled("id")} limit 1)`;
  const kind = () => (draw(4) === 0 ? "organization" : "user");

  const swapNames = async (table: "users" | "repositories" | "teams", within: string) => {
    const [pair] = await db.all<{ one: number; other: number }>(sql`
      select a.id as one, b.id as other
      from ${sql.identifier(table)} a join ${sql.identifier(table)} b
      on a.id < b.id and ${sql.raw(within)}
      ${shuffled("a.id", "b.id")} limit 1`);
    if (!pair) return;
    const { one, other } = pair;
    const rename = (id: number, to: unknown) =>
      db.textStatement(
        sql`update ${sql.identifier(table)} set lower_name = ${to} where id = ${id}`,
      );
    const [first, second] = await Promise.all(
      [one, other].map((id) =>
        db.all<{ lower_name: string }>(
          sql`select lower_name from ${sql.identifier(table)} where id = ${id}`,
        ),
      ),
    );
    await db.batch([
      rename(one, "in-between"),
      rename(other, first?.[0]?.lower_name),
      rename(one, second?.[0]?.lower_name),
    ]);
  };
  const insertUser = () => {
    const name = next();
    return db.run(sql`
      insert into users (kind, name, lower_name, password_hash, created_at, updated_at)
      values (${kind()}, ${name}, ${name}, 'hash', 1, 1)`);
  };
  const insertRepo = () => {
    const name = next();
    return db.run(sql`
      insert into repositories (
        owner_id, name, lower_name, is_private, default_branch, object_name, network_name,
        pull_settings, issue_settings, created_at, updated_at
      )
      select id, ${name}, ${name}, ${draw(2)}, 'main', ${name}, ${name}, '{"a":"ü \\" '' "}', '{}', 1, 1
      from users ${shuffled("id")} limit 1`);
  };
  const insertTeam = () => {
    const name = next();
    return db.run(sql`
      insert into teams (org_id, name, lower_name, access, created_at)
      select id, ${name}, ${name}, 1, 1 from users where kind = 'organization' ${shuffled("id")} limit 1`);
  };
  const run = (statement: () => SQL) => () => db.run(statement());
  const subscribe = () =>
    db.run(sql`
      insert or ignore into shard_repositories (shard_id, repo_id)
      select s.id, r.id from shards s, repositories r ${shuffled("s.id", "r.id")} limit 1`);

  return [
    insertUser,
    insertUser,
    insertRepo,
    insertRepo,
    insertTeam,
    subscribe,
    subscribe,
    subscribe,
    subscribe,
    run(
      () => sql`
      delete from shard_repositories
      where rowid in (select rowid from shard_repositories ${shuffled("rowid")} limit 1)`,
    ),
    () => db.run(sql`update users set full_name = ${next()} where id = ${anyOf("user")}`),
    () => db.run(sql`update users set follower_count = ${number()} where id = ${anyOf("user")}`),
    run(() => sql`update users set visibility = 'limited' where id = ${anyOf("organization")}`),
    () => swapNames("users", "true"),
    // As the service does before it deletes an account.
    async () => {
      const [user] = await db.all<{ id: number }>(sql`
        select id from users
        where id not in (select owner_id from repositories) ${shuffled("id")} limit 1`);
      if (user) await db.run(sql`delete from users where id = ${user.id}`);
    },
    run(
      () => sql`
      insert or ignore into user_redirects (lower_name, user_id)
      select 'was-' || id, ${anyOf("user")} from users ${shuffled("id")} limit 1`,
    ),
    run(
      () => sql`
      update user_redirects set user_id = ${anyOf("user")}
      where lower_name = (select lower_name from user_redirects ${shuffled("user_id", "rowid")} limit 1)`,
    ),
    run(() => sql`delete from user_redirects where user_id = ${anyOf("user")}`),
    run(
      () => sql`
      insert or ignore into blocks (blocker_id, blocked_id, note, created_at)
      select a.id, b.id, 'secret', 1 from users a, users b where a.id <> b.id ${shuffled("a.id", "b.id")} limit 1`,
    ),
    run(() => sql`delete from blocks where blocker_id = ${anyOf("user")}`),
    run(
      () => sql`
      insert or ignore into organization_members (org_id, user_id)
      select ${anyOf("organization")}, ${anyOf("user")} where exists (select 1 from users where kind = 'organization')`,
    ),
    run(() => sql`update organization_members set is_public = 1 where user_id = ${anyOf("user")}`),
    run(() => sql`delete from organization_members where user_id = ${anyOf("user")}`),
    () => swapNames("teams", "a.org_id = b.org_id"),
    run(
      () => sql`
      insert or ignore into team_members (team_id, user_id)
      select ${any("teams")}, ${anyOf("user")} where exists (select 1 from teams)`,
    ),
    run(() => sql`delete from team_members where user_id = ${anyOf("user")}`),
    run(
      () => sql`
      insert or ignore into team_repositories (team_id, repo_id)
      select ${any("teams")}, ${any("repositories")}
      where exists (select 1 from teams) and exists (select 1 from repositories)`,
    ),
    run(() => sql`delete from teams where id = ${any("teams")}`),
    () =>
      db.run(
        sql`update repositories set description = ${next()} where id = ${any("repositories")}`,
      ),
    () =>
      db.run(
        sql`update repositories set size_bytes = ${number()} where id = ${any("repositories")}`,
      ),
    () =>
      db.run(
        sql`update repositories set default_branch = ${next()} where id = ${any("repositories")}`,
      ),
    () =>
      db.run(
        sql`update repositories set is_private = 1 - is_private where id = ${any("repositories")}`,
      ),
    run(
      () =>
        sql`update or ignore repositories set owner_id = ${anyOf("user")} where id = ${any("repositories")}`,
    ),
    run(
      () => sql`
      update or ignore repositories set parent_id = ${any("repositories")}, is_fork = 1
      where id = (select max(id) from repositories)`,
    ),
    () => swapNames("repositories", "a.owner_id = b.owner_id"),
    run(() => sql`delete from repositories where id = ${any("repositories")}`),
    run(
      () => sql`
      insert or ignore into repository_redirects (owner_id, lower_name, repo_id)
      select ${anyOf("user")}, 'was-' || id, id from repositories ${shuffled("id")} limit 1`,
    ),
    run(
      () => sql`
      insert or ignore into repository_transfers (repo_id, doer_id, recipient_id, created_at)
      select id, ${anyOf("user")}, ${anyOf("user")}, 1 from repositories ${shuffled("id")} limit 1`,
    ),
    run(() => sql`delete from repository_transfers where repo_id = ${any("repositories")}`),
    run(
      () => sql`
      insert or ignore into collaborations (repo_id, user_id, access, created_at)
      select id, ${anyOf("user")}, 1, 1 from repositories ${shuffled("id")} limit 1`,
    ),
    run(() => sql`update collaborations set access = 3 where user_id = ${anyOf("user")}`),
    run(() => sql`delete from collaborations where user_id = ${anyOf("user")}`),
    () => {
      const name = next();
      return db.run(sql`
        insert into access_tokens (user_id, name, secret_hash, last_eight, made_by_id, created_at)
        select id, ${name}, ${name}, '', ${any("access_tokens")}, 1 from users ${shuffled("id")} limit 1`);
    },
    run(
      () => sql`
      insert or ignore into access_token_repositories (token_id, repo_id)
      select t.id, r.id from access_tokens t, repositories r ${shuffled("t.id", "r.id")} limit 3`,
    ),
    run(
      () => sql`
      update or ignore access_token_repositories set repo_id = ${any("repositories")}
      where token_id = ${any("access_tokens")}`,
    ),
    run(() => sql`delete from access_token_repositories where repo_id = ${any("repositories")}`),
    run(() => sql`delete from access_tokens where id = ${any("access_tokens")}`),
    run(
      () => sql`
      insert or ignore into hooks (
        level, owner_id, repo_id, approver_id, type, url, content_type, chat, events, is_active, created_at, updated_at
      ) values
        ('organization', ${anyOf("organization")}, null, 0, 'gitea', 'https://a.example', 'json', '{}', '[]', 1, 1, 1),
        ('repository', null, ${any("repositories")}, 0, 'gitea', 'https://a.example', 'json', '{}', '[]', 1, 1, 1),
        ('system', null, null, 0, 'gitea', 'https://a.example', 'json', '{}', '[]', 1, 1, 1)`,
    ),
    run(
      () => sql`update hooks set is_active = 0, updated_at = ${number()} where id % 3 = ${draw(3)}`,
    ),
    run(() => sql`delete from hooks where id % 7 = ${draw(7)}`),
    run(
      () => sql`
      insert or ignore into labels (repo_id, org_id, name, color, created_at, updated_at)
      values (null, ${anyOf("organization")}, ${next()}, '0000ff', 1, 1), (${any("repositories")}, null, ${next()}, '0000ff', 1, 1)`,
    ),
    run(() => sql`update labels set color = 'ff0000' where id % 3 = ${draw(3)}`),
    run(() => sql`delete from labels where id % 7 = ${draw(7)}`),
    run(
      () => sql`
      insert or ignore into branch_protections (repo_id, owner_id, name, priority, settings, created_at, updated_at)
      values (null, ${anyOf("organization")}, ${next()}, 1, '{}', 1, 1), (${any("repositories")}, null, ${next()}, 1, '{}', 1, 1)`,
    ),
    run(() => sql`update branch_protections set priority = ${number()} where id % 3 = ${draw(3)}`),
    run(() => sql`delete from branch_protections where id % 7 = ${draw(7)}`),
  ];
}
