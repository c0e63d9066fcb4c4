import { and, count, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  issueLabels,
  labels,
  repositories,
  timelineEntries,
} from "../../../../src/db/schema/index.ts";
import { detachFormerLabels } from "../../../../src/domain/repos/labels/detach-former-labels.ts";
import type { RecordedEvent } from "../../../../src/events/consequence.ts";
import { WorkBudget } from "../../../../src/lib/work-budget.ts";
import { silentBindings } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { serveFailing } from "../../../support/faults.ts";
import { makeLabel } from "../../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { systemCtx } from "../../../support/system.ts";

/** Issues with the label: the batch of the transfer and a step take it off a thousand each. */
const ISSUES = 2200;

/** A repository of an organization, whose label is on many issues. */
async function makeScene() {
  const owner = await make.user();
  const org = await make.org([owner]);
  const repo = await make.repo(org);
  const label = await makeLabel({ org });
  const numbers = JSON.stringify(Array.from({ length: ISSUES }, (_, at) => at + 1));
  await db.run(sql`
    insert into issues (repo_id, number, title, created_at, updated_at)
    select ${repo.id}, value, 'a', 1, 1
    from json_each(${numbers})`);
  await db.run(sql`
    insert into issue_labels (issue_id, label_id, repo_id, is_pull, is_closed)
    select id, ${label.id}, repo_id, 0, 0
    from issues
    where repo_id = ${repo.id}`);
  await db.run(sql`
    insert into timeline_entries (repo_id, issue_id, kind, body, label_id, created_at, updated_at)
    select repo_id, id, 'label', '1', ${label.id}, 1, 1
    from issues
    where repo_id = ${repo.id}`);
  const left = async (): Promise<(number | undefined)[]> => {
    const [attached] = await db
      .select({ total: count() })
      .from(issueLabels)
      .where(eq(issueLabels.labelId, label.id));
    const [entries] = await db
      .select({ total: count() })
      .from(timelineEntries)
      .where(eq(timelineEntries.labelId, label.id));
    return [attached?.total, entries?.total];
  };
  return { owner, org, repo, label, left };
}

/** Transfers a repository without a message to the queue, so that no step is taken meanwhile. */
async function transfer(repo: TestRepo, as: TestUser): Promise<RecordedEvent> {
  const request = new Request(`http://x/api/v1/repos/${repo.owner}/${repo.name}/transfer`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `token ${as.token}` },
    body: JSON.stringify({ new_owner: as.name }),
  });
  expect((await serveFailing(request, silentBindings()))?.status).toBe(202);
  const isTransfer = and(eq(events.repoId, repo.id), eq(events.type, "repository.transferred"));
  const [row] = await db.select().from(events).where(isTransfer);
  expect(row?.consequencesAt).not.toBeNull();
  const { id = 0, actorId = 0, createdAt = 0, type, ownerId, payload } = row ?? {};
  const event = { ...payload, type, ownerId, repoId: repo.id };
  return { id, actorId, createdAt, event } as unknown as RecordedEvent;
}

describe("the labels of a former owner", () => {
  it("go off many issues in steps, and none while the repository is theirs again", async () => {
    const { org, owner, repo, label, left } = await makeScene();
    const recorded = await transfer(repo, owner);
    expect(await left()).toEqual([ISSUES - 1000, ISSUES - 1000]);

    const step = (state?: unknown) => {
      const budget = new WorkBudget(Date.now(), { ms: 60_000, statements: 1000 });
      return detachFormerLabels.handle(systemCtx({}, Date.now()), recorded, budget, state);
    };
    const moveTo = (ownerId: number) =>
      db.update(repositories).set({ ownerId }).where(eq(repositories.id, repo.id));
    await moveTo(org.id);
    expect(await step()).toBeUndefined();
    expect(await left()).toEqual([ISSUES - 1000, ISSUES - 1000]);

    await moveTo(owner.id);
    const state = await step();
    expect(state).toBeDefined();
    expect(await left()).toEqual([ISSUES - 2000, ISSUES - 2000]);
    expect(await step(state)).toBeUndefined();
    expect(await left()).toEqual([0, 0]);
    expect(await db.select().from(labels).where(eq(labels.id, label.id))).toMatchObject([
      { openIssueCount: 0 },
    ]);
  });
});
