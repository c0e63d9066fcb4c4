import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { readStoredScopes } from "../../src/auth/scope.ts";
import { hashSecret, makeSecret } from "../../src/auth/secret.ts";
import { openDatabase } from "../../src/db/db.ts";
import { accessTokens, events, everyUnit, teams } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { serviceWith } from "../support/service.ts";

const database = env.MIGRATED_DB;
const db = openDatabase(database.withSession());

/** Inserts a token into the current tables and returns its secret. */
async function insertToken(name: string, scopes?: string | null): Promise<string> {
  const secret = makeSecret();
  const columns = `user_id, name, secret_hash, last_eight, created_at${scopes === undefined ? "" : ", scopes"}`;
  const values = [1, name, await hashSecret(secret), secret.slice(-8), 1000];
  if (scopes !== undefined) values.push(scopes as string);
  await database
    .prepare(`insert into access_tokens (${columns}) values (${values.map(() => "?").join(", ")})`)
    .bind(...values)
    .run();
  return secret;
}

/** The actor of events from before their visibility was recorded. */
const EARLIER = 77;

/** Inserts events of a repository that became public, of one that became private, and of one that is gone. */
async function insertEarlierEvents(): Promise<void> {
  for (const [id, isPrivate] of [
    [901, 0],
    [902, 1],
  ]) {
    await database.exec(
      `insert into repositories (id, object_name, network_name, owner_id, name, lower_name, is_private, default_branch, pull_settings, issue_settings, created_at, updated_at) values (${id}, 'o${id}', 'o${id}', 1, 'r${id}', 'r${id}', ${isPrivate}, 'main', '{}', '{}', 1000, 1000)`,
    );
  }
  const changed = "repository.visibility_changed";
  const list: [repoId: number, type: string, payload: string][] = [
    [901, "repository.created", "{}"],
    [902, "repository.created", "{}"],
    [901, changed, '{"isPrivate":true}'],
    [901, changed, '{"isPrivate":false}'],
    [901, "repository.pushed", '{"pushId":"a","part":0}'],
    [902, changed, '{"isPrivate":true}'],
    [903, "repository.pushed", '{"pushId":"b","part":0}'],
  ];
  for (const [repoId, type, payload] of list) {
    await database
      .prepare(
        "insert into events (type, actor_id, owner_id, repo_id, payload, created_at) values (?, ?, 1, ?, ?, 1000)",
      )
      .bind(type, EARLIER, repoId, payload)
      .run();
  }
}

/** What a migration that makes tables anew must leave as it is: rows, counters, indexes and triggers. */
async function stateOfNotifications() {
  const all = async <T>(query: string): Promise<T[]> =>
    (await database.prepare(query).all<T>()).results;
  const objects = await all<{ name: string; sql: string }>(
    "select name, sql from sqlite_master where tbl_name in ('mails', 'notifications') and type in ('index', 'trigger') and sql is not null order by name",
  );
  return {
    notifications: await all("select * from notifications order by id"),
    counts: await all("select * from notification_counts order by status"),
    mails: await all<object>("select * from mails order by id"),
    objects: objects.filter(({ name }) => name !== "mails_repo"),
  };
}

/** Inserts an issue, a release, and notifications and mails about them, of which the last are deleted again. */
async function insertEarlierNotifications(): Promise<void> {
  for (const query of [
    "insert into issues (id, repo_id, number, poster_id, title, created_at, updated_at) values (501, 901, 1, 1, 'one', 1, 1)",
    "insert into releases (id, repo_id, tag_name, lower_tag_name, target, title, created_at, published_at) values (601, 901, 'v1', 'v1', 'main', 'one', 1, 1)",
    "insert into notifications (id, user_id, repo_id, subject, issue_id, status, entry_id, event_id, created_at, updated_at) values (11, 1, 901, 'issue', 501, 'read', 7, 8, 1, 2)",
    "insert into notifications (id, user_id, repo_id, subject, release_id, status, created_at, updated_at) values (12, 1, 901, 'release', 601, 'unread', 1, 2)",
    "insert into notifications (id, user_id, repo_id, subject, commit_oid, status, created_at, updated_at) values (19, 1, 901, 'commit', 'a', 'pinned', 1, 2)",
    "delete from notifications where id = 19",
    "insert into mails (id, user_id, address, sealed_content, due_at, created_at) values (21, 1, 'a@example.com', 's', 5, 6)",
    "insert into mails (id, user_id, address, sealed_content, issue_id, event_id, reason, attempts, due_at, created_at) values (22, 1, '', '', 501, 8, 'mention', 2, 5, 6)",
    "insert into mails (id, user_id, address, sealed_content, due_at, created_at) values (29, 1, 'a@example.com', 's', 5, 6)",
    "delete from mails where id = 29",
  ]) {
    await database.exec(query);
  }
}

/** Notifications and mails are as before, mails know their repository, and what is deleted is gone with its id. */
async function expectNotifications(before: Awaited<ReturnType<typeof stateOfNotifications>>) {
  expect(before.notifications).toHaveLength(2);
  expect(before.objects.map(({ name }) => name)).toEqual([
    "mails_due",
    "mails_event",
    "mails_issue",
    "mails_user",
    "notifications_by_updated",
    "notifications_delete",
    "notifications_insert",
    "notifications_issue",
    "notifications_of_issue",
    "notifications_of_release",
    "notifications_of_repo",
    "notifications_read",
    "notifications_release",
    "notifications_repo",
    "notifications_repository",
    "notifications_status",
  ]);
  const after = await stateOfNotifications();
  const mails = before.mails.map((mail, at) => ({ ...mail, repo_id: [null, 901][at] }));
  expect(after).toEqual({ ...before, mails });

  const insert = (table: string, columns: string, values: string) =>
    database
      .prepare(`insert into ${table} (${columns}) values (${values}) returning id`)
      .first<{ id: number }>();
  const mail = "user_id, address, sealed_content, due_at, created_at";
  expect(await insert("mails", mail, "1, '', '', 5, 6")).toEqual({ id: 30 });
  const row = "user_id, repo_id, subject, status, created_at, updated_at";
  const added = await insert("notifications", row, "1, 901, 'commit', 'read', 1, 1");
  expect(added).toEqual({ id: 20 });
  const [commits] = await db.all("select count from notification_counts where subject = 'commit'");
  expect(commits).toEqual({ count: 1 });
  await expect(insert("notifications", row, "1, 999, 'commit', 'read', 1, 1")).rejects.toThrow(
    "FOREIGN KEY constraint failed",
  );
  // The issue goes without them: the event of its deletion removes them.
  await database.exec("delete from issues where id = 501");
  expect(await stateOfNotifications()).toMatchObject({
    notifications: [{ id: 11 }, { id: 12 }, { id: 20 }],
    mails: [{ id: 21 }, { id: 22 }, { id: 30 }],
  });
}

const scopesOf = async (secret: string) =>
  only(
    await db
      .select({ scopes: accessTokens.scopes })
      .from(accessTokens)
      .where(eq(accessTokens.secretHash, await hashSecret(secret))),
  ).scopes;

describe("the migrations", () => {
  // Required by the contract: tokens created before scopes existed have the scope `all`.
  it("give tokens from before scopes existed the scope all, and grant nothing to later ones without scopes", async () => {
    const [foundation, ...later] = env.TEST_MIGRATIONS;
    if (!foundation) throw new Error("there are no migrations");
    await applyD1Migrations(database, [foundation]);
    await database.exec(
      "insert into users (kind, name, lower_name, email, created_at, updated_at) values ('user', 'Ada', 'ada', 'ada@example.com', 1000, 1000)",
    );
    await database.exec(
      "insert into email_addresses (user_id, email, lower_email, is_activated, is_primary) values (1, 'ada@example.com', 'ada@example.com', 1, 1)",
    );
    const earlier = await insertToken("earlier");
    await database.exec(
      "insert into teams (org_id, name, lower_name, access, created_at) values (1, 'Readers', 'readers', 1, 1000), (1, 'Owners', 'owners', 4, 1000)",
    );

    for (const migration of later) {
      if (migration.name.includes("visibility_of_earlier_events")) await insertEarlierEvents();
      const isAnew = migration.name.includes("plain_subject_ids");
      if (isAnew) await insertEarlierNotifications();
      const before = isAnew ? await stateOfNotifications() : undefined;
      await applyD1Migrations(database, [migration]);
      if (before) await expectNotifications(before);
    }
    expect(
      await db.select().from(events).where(eq(events.actorId, EARLIER)).orderBy(events.id),
    ).toMatchObject([
      { repoId: 901, visibility: "private", isPrivate: true },
      { repoId: 902, visibility: "private", isPrivate: true },
      { repoId: 901, visibility: "private", isPrivate: true },
      { repoId: 901, visibility: "public", isPrivate: false },
      { repoId: 901, visibility: "public", isPrivate: false },
      { repoId: 902, visibility: "private", isPrivate: true },
      { repoId: 903, visibility: "private", isPrivate: true },
    ]);

    const call = serviceWith({}, { DB: database });
    const star = "/user/starred/ada/engine";
    expect(await scopesOf(earlier)).toBe("all");
    const made = await call("POST", "/user/repos", { token: earlier, json: { name: "engine" } });
    expect(made).toMatchObject({ status: 201, body: { full_name: "Ada/engine" } });
    expect(await call("PUT", star, { token: earlier })).toMatchObject({ status: 204 });

    for (const scopes of [null, ""]) {
      const token = await insertToken(`later ${scopes}`, scopes);
      expect(readStoredScopes(await scopesOf(token)).levels.size).toBe(0);
      for (const [method, path] of [
        ["GET", "/user"],
        ["GET", "/repos/ada/engine"],
        ["DELETE", star],
      ] as const) {
        expect(await call(method, path, { token }), path).toMatchObject({ status: 403 });
      }
    }
    expect(await call("GET", star, { token: earlier })).toMatchObject({ status: 204 });
    const found = await call("GET", "/users/search?q=ada@example", { token: earlier });
    expect(found.body, "the index has users from before").toMatchObject([{ login: "Ada" }]);

    const { results } = await database
      .prepare(
        "select rowid from email_addresses_search where email_addresses_search match '\"ada@ex\"'",
      )
      .all();
    expect(results, "the index has addresses from before").toHaveLength(1);

    const kept = await db.select({ name: teams.name, units: teams.units }).from(teams);
    expect(kept, "teams from before units give in each what they gave").toEqual([
      { name: "Readers", units: everyUnit(1) },
      { name: "Owners", units: everyUnit(4) },
    ]);
  });

  it("leave every foreign key intact", async () => {
    const { results } = await env.DB.prepare("pragma foreign_key_check").all();
    expect(results).toEqual([]);
  });
});
