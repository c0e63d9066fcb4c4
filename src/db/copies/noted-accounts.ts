import { type SQL, sql } from "drizzle-orm";

import { accountShards, notedAccounts } from "../schema/index.ts";

/** Tables with what lists over all repositories find by an account: the accounts of a row, by the names of columns. */
const SOURCES: readonly { readonly table: string; readonly accounts: readonly string[] }[] = [
  { table: "issues", accounts: ["poster_id"] },
  { table: "issue_assignees", accounts: ["user_id"] },
  { table: "issue_mentions", accounts: ["user_id"] },
  // Who is asked by a team is asked by its organization here: members come and go.
  {
    table: "reviews",
    accounts: ["reviewer_id", "(SELECT org_id FROM teams WHERE teams.id = ROW.team_id)"],
  },
  { table: "tracked_times", accounts: ["user_id"] },
  { table: "stopwatches", accounts: ["user_id"] },
  { table: "events", accounts: ["actor_id", "owner_id"] },
];

/**
 * Triggers of a shard that note the accounts of new rows, by name, with what notes those of the rows that are there before them.
 *
 * They ask before they insert: within an upsert, SQLite takes `or ignore` in a trigger for an error.
 */
export const NOTING_TRIGGERS: ReadonlyMap<string, { readonly text: string; readonly fill: SQL }> =
  new Map(
    SOURCES.map(({ table, accounts }) => {
      const name = `${table}_noted_accounts`;
      const inserted = `INSERT INTO noted_accounts (account_id) ${selectNew(accounts, "new")}`;
      return [
        name,
        {
          text: `CREATE TRIGGER ${name} AFTER INSERT ON ${table} BEGIN ${inserted}; END`,
          fill: sql.raw(
            `INSERT INTO noted_accounts (account_id) ${selectNew(accounts, table, ` FROM ${table}`)}`,
          ),
        },
      ];
    }),
  );

/** Selects those accounts of a row, or of all rows, which are not noted. */
function selectNew(accounts: readonly string[], row: string, from = ""): string {
  const values = accounts.map((account) =>
    account.startsWith("(") ? account.replace("ROW", row) : `${row}.${account}`,
  );
  const ids = values.map((value) => `SELECT ${value} AS id${from}`).join(" UNION ");
  return (
    `SELECT DISTINCT id FROM (${ids}) ` +
    "WHERE id > 0 AND NOT EXISTS (SELECT 1 FROM noted_accounts WHERE account_id = id)"
  );
}

/** Selects accounts of which the first database does not know that the shard has something, by id. */
export const selectUncopied = (limit: number): SQL => sql`
  select ${notedAccounts.accountId} as id from ${notedAccounts}
  where not ${notedAccounts.isCopied}
  order by ${notedAccounts.accountId}
  limit ${limit}`;

/** Tells the first database of accounts of a shard; of those that are gone, nothing. */
export const writeAccountShards = (ids: readonly number[], shardId: number): SQL => sql`
  insert into ${accountShards} (account_id, shard_id)
  select id, ${shardId} from users where id in (select value from json_each(${JSON.stringify(ids)}))
  on conflict do nothing`;

/** Notes that the first database knows of accounts. */
export const markCopied = (ids: readonly number[]): SQL => sql`
  update ${notedAccounts} set is_copied = 1
  where ${notedAccounts.accountId} in (select value from json_each(${JSON.stringify(ids)}))`;

/** Notes an account of which the first database already knows. */
export const noteCopied = (id: number): SQL => sql`
  insert into ${notedAccounts} (account_id, is_copied) values (${id}, 1)
  on conflict do update set is_copied = 1`;
