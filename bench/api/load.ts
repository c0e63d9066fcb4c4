import type { Database } from "../../scripts/serve/migrate.ts";
import { hashSecret } from "../../src/auth/secret.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../src/domain/repos/repository/default-settings.ts";
import { loadOrganization } from "./organization.ts";
import { repositoryRow, starRows, tokens, userRow, type Population } from "./population.ts";

/** Rows per statement: a few megabytes of JSON at most. */
const CHUNK = 20_000;

const EMPTY: Population = { users: 0, repositories: 0, stars: 0 };

/**
 * Grows the tables of a database, through the same triggers as the service's own writes.
 *
 * The rows are inserted without the API: one request each would take an hour.
 *
 * @param from The existing population.
 */
export async function load(db: Database, to: Population, from = EMPTY): Promise<void> {
  // Repositories that the API created in the meantime have the ids of the rows to insert.
  await db.prepare("DELETE FROM repositories WHERE id > ?").bind(from.repositories).run();
  await insert(db, USERS, rows(userRow, from.users, to.users));
  await insert(db, EMAIL_ADDRESSES, rows(userRow, from.users, to.users));
  await insert(db, REPOSITORIES, rows(repositoryRow, from.repositories, to.repositories));
  await insert(db, STARS, starRows(from.users, to.users));
  await loadOrganization(db, to);
  if (from === EMPTY) await insert(db, TOKENS, await tokenRows());
}

async function insert(db: Database, statement: string, from: Iterable<object>): Promise<void> {
  let chunk: object[] = [];
  const flush = async () => {
    if (chunk.length > 0) await db.prepare(statement).bind(JSON.stringify(chunk)).run();
    chunk = [];
  };
  for (const row of from) {
    if (chunk.push(row) === CHUNK) await flush();
  }
  await flush();
}

function* rows<Row>(row: (index: number) => Row, from: number, to: number): Generator<Row> {
  for (let index = from; index < to; index += 1) yield row(index);
}

const tokenRows = () =>
  Promise.all(
    Object.entries(tokens).map(async ([user, secret]) => ({
      userId: Number(user) + 1,
      hash: await hashSecret(secret),
      lastEight: secret.slice(-8),
      now: Date.now(),
    })),
  );

const column = (name: string): string => `value ->> '${name}'`;

const USERS = `
  INSERT INTO users (id, kind, name, lower_name, full_name, email, visibility, created_at, updated_at)
  SELECT ${column("id")}, 'user', ${column("name")}, ${column("name")}, ${column("fullName")},
    ${column("email")}, ${column("visibility")}, ${column("createdAt")}, ${column("createdAt")}
  FROM json_each(?)`;

const EMAIL_ADDRESSES = `
  INSERT INTO email_addresses (user_id, email, lower_email, is_activated, is_primary)
  SELECT ${column("id")}, ${column("email")}, ${column("email")}, 1, 1 FROM json_each(?)`;

const REPOSITORIES = `
  INSERT INTO repositories (id, owner_id, name, lower_name, description, is_private, default_branch,
    size_bytes, pull_settings, issue_settings, created_at, updated_at)
  SELECT ${column("id")}, ${column("ownerId")}, ${column("name")}, ${column("name")},
    ${column("description")}, ${column("isPrivate")}, 'main', ${column("sizeBytes")},
    '${JSON.stringify(DEFAULT_PULL_SETTINGS)}', '${JSON.stringify(DEFAULT_ISSUE_SETTINGS)}',
    ${column("createdAt")}, ${column("createdAt")}
  FROM json_each(?)`;

const STARS = `
  INSERT INTO stars (user_id, repo_id, visibility, created_at)
  SELECT star.${column("userId")}, r.id, r.visibility, star.${column("createdAt")}
  FROM json_each(?) star CROSS JOIN repositories r ON r.id = star.${column("repoId")}`;

const TOKENS = `
  INSERT INTO access_tokens (user_id, name, secret_hash, last_eight, scopes, created_at, last_used_at)
  SELECT ${column("userId")}, 'bench', ${column("hash")}, ${column("lastEight")}, 'all',
    ${column("now")}, ${column("now")}
  FROM json_each(?)`;
