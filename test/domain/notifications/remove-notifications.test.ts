import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { mails, notifications, users, type Issue } from "../../../src/db/schema/index.ts";
import { removeNotifications } from "../../../src/domain/notifications/remove-notifications.ts";
import type { RecordedEvent } from "../../../src/events/consequence.ts";
import { WorkBudget } from "../../../src/lib/work-budget.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { make } from "../../support/make.ts";
import { makeNotification } from "../../support/notifications.ts";
import { systemCtxOf } from "../../support/system.ts";

const NOW = 1_700_000_000_000;

/** Handles the event of an issue's deletion, and returns the number of steps. */
async function remove({ id: issueId, repoId, number, isPull }: Issue): Promise<number> {
  const event = { type: "issue.deleted", ownerId: 1, repoId, issueId, number, isPull };
  const recorded = { id: 1, actorId: 0, createdAt: NOW, event } as unknown as RecordedEvent;
  const budget = new WorkBudget(NOW, { ms: 60_000, statements: 100 });
  let state: unknown;
  let steps = 0;
  do {
    state = await removeNotifications.handle(
      systemCtxOf(issueId, {}, NOW),
      recorded,
      budget,
      state,
    );
    steps += 1;
  } while (state !== undefined);
  return steps;
}

const countOf = ({ id }: Issue) => db.$count(notifications, eq(notifications.issueId, id));

describe("the notifications of a deleted issue", () => {
  it("go with its mails, those of other issues stay, and a repetition changes nothing", async () => {
    const [owner, user] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    const [deleted, kept] = [await makeIssue(repo), await makeIssue(repo)];
    for (const issue of [deleted, kept]) {
      await makeNotification(user, issue);
      await db.insert(mails).values({
        userId: user.id,
        repoId: repo.id,
        issueId: issue.id,
        address: "",
        sealedContent: "",
        dueAt: Number.MAX_SAFE_INTEGER,
        createdAt: 1000,
      });
    }
    for (let count = 0; count < 2; count++) {
      expect(await remove(deleted)).toBe(1);
      expect([await countOf(deleted), await countOf(kept)]).toEqual([0, 1]);
      expect(await db.$count(mails, eq(mails.issueId, deleted.id))).toBe(0);
      expect(await db.$count(mails, eq(mails.issueId, kept.id))).toBe(1);
    }
  });

  it("go in steps of bounded size", async () => {
    const issue = await makeIssue(await make.repo(await make.user()));
    const prefix = `crowd-${issue.id}-`;
    await db.run(sql`
      insert into users (kind, name, lower_name, created_at, updated_at)
      with recursive counted(n) as (select 1 union all select n + 1 from counted where n < 2100)
      select 'user', ${prefix} || n, ${prefix} || n, 1000, 1000 from counted`);
    await db.run(sql`
      insert into notifications (user_id, repo_id, subject, issue_id, status, created_at, updated_at)
      select ${users.id}, ${issue.repoId}, 'issue', ${issue.id}, 'unread', 1000, 1000
      from ${users} where ${users.name} like ${`${prefix}%`}`);
    expect(await countOf(issue)).toBe(2100);
    expect(await remove(issue)).toBe(2);
    expect(await countOf(issue)).toBe(0);
  });
});
