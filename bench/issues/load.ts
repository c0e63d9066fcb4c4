import type { Database } from "../../scripts/serve/migrate.ts";
import { hashSecret } from "../../src/auth/secret.ts";
import {
  DEFAULT_ISSUE_SETTINGS,
  DEFAULT_PULL_SETTINGS,
} from "../../src/domain/repos/repository/default-settings.ts";
import {
  COMMENTS_PER_ISSUE,
  COMMON_WORD,
  ISSUE,
  LABELS,
  MILESTONES,
  OWNER,
  REPOSITORY,
  token,
  USERS,
  WORDS,
} from "./population.ts";

/** Issues per statement. */
const CHUNK = 2000;

const NUMBERS =
  "WITH RECURSIVE numbers(n) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)";

/**
 * Grows the repository to a number of issues, through the same triggers as the service's own
 * writes.
 *
 * The rows are inserted without the API: one request each would take a day.
 *
 * @param from The number of issues that it has.
 */
export async function load(db: Database, to: number, from = 0): Promise<void> {
  if (from === 0) await loadAccounts(db);
  // Requests opened issues in the meantime, which have the numbers of those to insert.
  await db.prepare("DELETE FROM issues WHERE repo_id = 1 AND number > ?1").bind(from).run();
  for (let first = from + 1; first <= to; first += CHUNK) {
    const last = Math.min(first + CHUNK - 1, to);
    await db.batch(STATEMENTS.map((statement) => bindRange(db, statement, first, last)));
  }
  await db.prepare("UPDATE repositories SET last_issue_number = ?1 WHERE id = 1").bind(to).run();
}

const bindRange = (db: Database, statement: string, first: number, last: number) =>
  statement.includes("?3")
    ? db.prepare(statement).bind(first, last, JSON.stringify(WORDS.split(" ")))
    : db.prepare(statement).bind(first, last);

const STATEMENTS = [
  `${NUMBERS}
  INSERT INTO issues (id, repo_id, number, poster_id, title, body, is_closed, closed_at, milestone_id,
    deadline_at, created_at, updated_at)
  SELECT n, 1, n, ${ISSUE.posterId}, ${ISSUE.title}, ${ISSUE.body}, ${ISSUE.isClosed},
    iif(${ISSUE.isClosed}, ${ISSUE.updatedAt}, null), ${ISSUE.milestoneId}, ${ISSUE.deadlineAt},
    ${ISSUE.createdAt}, ${ISSUE.updatedAt}
  FROM numbers, (SELECT ?3 AS value)`,
  `${NUMBERS}, counts(c) AS (SELECT 1 UNION ALL SELECT c + 1 FROM counts WHERE c < ${COMMENTS_PER_ISSUE})
  INSERT INTO timeline_entries (repo_id, issue_id, kind, poster_id, body, created_at, updated_at)
  SELECT 1, n, 'comment', 2 + (n + c) % ${USERS},
    'Seen by ' || (value ->> (n % 13)) || ' with ' || (value ->> ((n + c) % 13)) || ' ' || (n * c)
      || iif(c % 2 = 0, ' in the ${COMMON_WORD}', ''),
    ${ISSUE.createdAt} + c, ${ISSUE.createdAt} + c
  FROM numbers, counts, (SELECT ?3 AS value)`,
  ...LABELS.map(
    ({ id, condition }) => `${NUMBERS}
    INSERT INTO issue_labels (issue_id, label_id, repo_id, is_pull, is_closed)
    SELECT n, ${id}, 1, 0, ${ISSUE.isClosed} FROM numbers WHERE ${condition}`,
  ),
  `${NUMBERS}
  INSERT INTO issue_assignees (issue_id, user_id, repo_id, created_at)
  SELECT n, 2 + n / 3 % ${USERS}, 1, 0 FROM numbers WHERE n % 3 = 0`,
  `${NUMBERS}
  INSERT INTO issue_mentions (issue_id, user_id, repo_id)
  SELECT n, 2 + n / 4 % ${USERS}, 1 FROM numbers WHERE n % 4 = 0`,
  `${NUMBERS}
  INSERT INTO notifications (user_id, repo_id, subject, issue_id, status, created_at, updated_at)
  SELECT 1, 1, 'issue', n, iif(n % 3 = 0, 'read', 'unread'), ${ISSUE.createdAt}, ${ISSUE.updatedAt}
  FROM numbers WHERE n % 10 = 0`,
];

async function loadAccounts(db: Database): Promise<void> {
  const run = (statement: string, ...values: unknown[]) =>
    db
      .prepare(statement)
      .bind(...values)
      .run();
  await run(
    `INSERT INTO users (id, kind, name, lower_name, email, created_at, updated_at)
    SELECT value + 1, 'user', iif(value = 0, ?2, 'user-' || (value + 1)),
      iif(value = 0, ?2, 'user-' || (value + 1)), value || '@example.com', 0, 0
    FROM json_each(?1)`,
    JSON.stringify(Array.from({ length: USERS + 1 }, (_, at) => at)),
    OWNER,
  );
  await run(
    `INSERT INTO repositories (id, owner_id, name, lower_name, is_private, default_branch,
      pull_settings, issue_settings, created_at, updated_at)
    VALUES (1, 1, ?1, ?1, 0, 'main', ?2, ?3, 0, 0)`,
    REPOSITORY,
    JSON.stringify(DEFAULT_PULL_SETTINGS),
    JSON.stringify(DEFAULT_ISSUE_SETTINGS),
  );
  for (const { id, name } of LABELS) {
    await run(
      `INSERT INTO labels (id, repo_id, name, color, created_at, updated_at)
      VALUES (?1, 1, ?2, 'ee0701', 0, 0)`,
      id,
      name,
    );
  }
  for (let id = 1; id <= MILESTONES; id += 1) {
    await run(
      `INSERT INTO milestones (id, repo_id, title, created_at, updated_at)
      VALUES (?1, 1, 'v' || ?1, 0, 0)`,
      id,
    );
  }
  await run(
    `INSERT INTO access_tokens (user_id, name, secret_hash, last_eight, scopes, created_at, last_used_at)
    VALUES (1, 'bench', ?1, ?2, 'all', ?3, ?3)`,
    await hashSecret(token),
    token.slice(-8),
    Date.now(),
  );
}
