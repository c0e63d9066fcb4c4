import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { inProject } from "../../../../../../scripts/project.ts";

const MIGRATION = "0012_events.sql";

const FILES = readdirSync(inProject("migrations"))
  .filter((name) => name.endsWith(".sql"))
  .toSorted();

/** A database with the migrations before the one that archives deliveries. */
function openBefore(): DatabaseSync {
  const sqlite = new DatabaseSync(":memory:");
  for (const name of FILES.slice(0, FILES.indexOf(MIGRATION))) apply(sqlite, name);
  return sqlite;
}

const apply = (sqlite: DatabaseSync, name: string): void =>
  sqlite.exec(readFileSync(inProject(`migrations/${name}`), "utf8"));

it("deliveries of before the migration keep their content, and are archived later", () => {
  const sqlite = openBefore();
  sqlite.exec(`
    pragma foreign_keys = off;
    insert into webhook_events (id, event_id, part, event, repo_id, payload, created_at)
    values (1, 5, 0, 'push', 1, '{"ref":"main"}', 1000);
    insert into hook_deliveries (id, hook_id, webhook_event_id, uuid, event, status, request_url,
      request_headers, response_body, created_at, updated_at)
    values (1, 1, 1, 'a', 'push', 'succeeded', 'https://receiver.example', '{"a":"b"}', 'ok', 1, 2)`);
  const rowsOf = () => ({
    ...sqlite.prepare("select * from webhook_events").get(),
    ...sqlite.prepare("select * from hook_deliveries").get(),
  });
  const before = rowsOf();

  apply(sqlite, MIGRATION);

  expect(rowsOf()).toEqual({ ...before, archive: null, is_archived: 0 });
  const plan = sqlite.prepare(`
    explain query plan
    select id from webhook_events where archive is null and id > 0 order by id limit 200`);
  expect(JSON.stringify(plan.all())).toContain("webhook_events_unarchived");
});
