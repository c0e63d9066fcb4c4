import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { expect } from "vitest";

import { hashSecret } from "../../../src/auth/secret.ts";
import { copiedTables, type CopiedTable } from "../../../src/db/copies/copied-tables.ts";
import { isCopiedRow } from "../../../src/db/copies/copy-sql.ts";
import { type Database, openDatabase } from "../../../src/db/db.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../../src/domain/repos/default-settings.ts";
import { copyToShards } from "../../../src/domain/shards/copy-to-shards.ts";
import { emptyTables } from "../../support/empty-tables.ts";
import { systemCtx } from "../../support/system.ts";
import { migrate } from "../../support/migrate.ts";

export const NOW = Date.UTC(2026, 0, 31);
export const SHARDS = {
  SHARD_1: env.TEST_SHARD_1,
  SHARD_2: env.TEST_SHARD_2,
  SHARD_3: env.TEST_SHARD_3,
};
/** The first database of these tests, and its shards. */
export const directory = openDatabase(env.DIRECTORY_DB.withSession("first-primary"));
export const databases = Object.values(SHARDS).map((d1) =>
  openDatabase(d1.withSession("first-primary")),
);

for (const database of [env.DIRECTORY_DB, ...Object.values(SHARDS)]) {
  await migrate(database);
}

export const copy = (bindings: Partial<typeof SHARDS> & { DB?: D1Database } = SHARDS) =>
  copyToShards(systemCtx({ DB: env.DIRECTORY_DB, ...bindings }, NOW));

/** Repeats until nothing is left to copy. */
export async function copyAll(bindings: Partial<typeof SHARDS> = SHARDS): Promise<void> {
  for (let runs = 0; runs < 50; runs++) {
    await copy(bindings);
    const [left] = await directory.all<{ count: number }>(
      sql`select count(*) as count from copied_changes`,
    );
    if (left?.count === 0) return;
  }
  throw new Error("the log does not become empty");
}

const rowsOf = (db: Database, { name, columns }: CopiedTable, where = sql`1`) =>
  db.all<Record<string, unknown>>(sql`
    select ${sql.join(
      columns.map((column) => sql.identifier(column)),
      sql`, `,
    )} from ${sql.identifier(name)} where ${where} order by 1, 2`);

/** What a shard is to have of a table. */
async function expectedRows(table: CopiedTable, shardId: number) {
  const isThere = (column: string) => sql`exists (
    select 1 from shard_repositories
    where shard_id = ${shardId} and repo_id = ${sql.identifier(table.name)}.${sql.identifier(column)}
  )`;
  const rows = await rowsOf(
    directory,
    table,
    table.repository === undefined ? isCopiedRow(table) : isThere(table.repository),
  );
  if (table.name !== "repositories") return rows;
  const ids = new Set(rows.map(({ id }) => id));
  for (const row of rows) if (!ids.has(row["parent_id"])) row["parent_id"] = null;
  return rows;
}

/** Columns that are copied with others alone. */
const withoutUnlogged = (
  { logged, loggedElsewhere }: CopiedTable,
  rows: readonly Record<string, unknown>[],
) =>
  // No shard owns any of these repositories.
  rows.map((row) =>
    Object.fromEntries([...logged, ...loggedElsewhere].map((column) => [column, row[column]])),
  );

export async function expectCopies(copies = databases): Promise<void> {
  for (const [at, shard] of copies.entries()) {
    await Promise.all(
      copiedTables().map(async (table) => {
        const [found, expected] = await Promise.all([
          rowsOf(shard, table, isCopiedRow(table)),
          expectedRows(table, at + 1),
        ]);
        expect(withoutUnlogged(table, found), `${table.name} of shard ${at + 1}`).toEqual(
          withoutUnlogged(table, expected),
        );
      }),
    );
  }
}

/** Empties all of them. */
export async function clearDatabases(): Promise<void> {
  const tables = [
    "issue_labels",
    "timeline_entries",
    "issues",
    "releases",
    ...copiedTables()
      .map(({ name }) => name)
      .toReversed(),
    "shard_tasks",
    "relayed_events",
    "events",
    "shard_repositories",
    "account_shards",
    "shards",
    "id_ranges",
    "copied_changes",
    "shard_copies",
    "owned_changes",
    "noted_accounts",
    "discarded_objects",
    "repository_remains",
  ];
  await emptyTables([directory, ...databases], tables);
}

/** A token of the account of `insertRows`. */
export const TOKEN = "0123456789abcdef0123456789abcdef01234567";

export async function insertToken(): Promise<void> {
  await directory.run(sql`
    insert into access_tokens (user_id, name, secret_hash, last_eight, scopes, created_at)
    values (1, 't', ${await hashSecret(TOKEN)}, '', 'all', 1)`);
}

/** Puts a row into each copied table, and into the copies of the first shard. */
export async function insertRows(): Promise<void> {
  await copyAll();
  await directory.batch(
    [
      sql`insert into users (id, kind, name, lower_name, created_at, updated_at)
          values (1, 'user', 'a', 'a', 1, 1), (2, 'organization', 'o', 'o', 1, 1)`,
      sql`insert into repositories (
            id, owner_id, name, lower_name, is_private, default_branch, object_name, network_name,
            pull_settings, issue_settings, created_at, updated_at
          ) values (3, 1, 'r', 'r', 0, 'main', ${crypto.randomUUID()}, 'n',
            ${JSON.stringify(DEFAULT_PULL_SETTINGS)}, ${JSON.stringify(DEFAULT_ISSUE_SETTINGS)}, 1, 1)`,
      sql`insert into shard_repositories values (1, 3)`,
      sql`insert into user_redirects (lower_name, user_id) values ('was', 1)`,
      sql`insert into blocks (blocker_id, blocked_id, created_at) values (2, 1, 1)`,
      sql`insert into organization_members (org_id, user_id) values (2, 1)`,
      sql`insert into teams (id, org_id, name, lower_name, access, created_at) values (4, 2, 't', 't', 1, 1)`,
      sql`insert into team_members (team_id, user_id) values (4, 1)`,
      sql`insert into team_repositories (team_id, repo_id) values (4, 3)`,
      sql`insert into repository_redirects (owner_id, lower_name, repo_id) values (1, 'was', 3)`,
      sql`insert into repository_transfers (repo_id, doer_id, recipient_id, created_at) values (3, 1, 2, 1)`,
      sql`insert into collaborations (repo_id, user_id, access, created_at) values (3, 2, 1, 1)`,
      sql`insert into access_token_repositories (token_id, repo_id) values (5, 3)`,
      sql`insert into hooks (
            id, level, owner_id, approver_id, type, url, content_type, chat, events, is_active,
            created_at, updated_at
          ) values (6, 'organization', 2, 0, 'gitea', 'https://a.example', 'json', '{}', '["push"]', 1, 1, 1)`,
      sql`insert into labels (id, org_id, name, color, created_at, updated_at) values (7, 2, 'l', '000000', 1, 1)`,
      sql`insert into branch_protections (id, owner_id, name, priority, settings, created_at, updated_at)
          values (8, 2, 'b', 1, '{}', 1, 1)`,
    ].map((statement) => directory.textStatement(statement)) as never,
  );
  await copyAll();
}
