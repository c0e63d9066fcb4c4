import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  issueAssignees,
  issueDependencies,
  issueLabels,
  issueMentions,
  issues,
  issueSubscriptions,
  labels,
  milestones,
  notifications,
  reactions,
  repositories,
  repositoryRemains,
  trackedTimes,
} from "../../../../src/db/schema/index.ts";
import {
  continueRemovals,
  removeRemains,
} from "../../../../src/domain/repos/repository/remove-remains.ts";
import { call } from "../../../support/call.ts";
import { systemCtx } from "../../../support/system.ts";
import { db } from "../../../support/db.ts";
import { failCalls, failing, serveFailing } from "../../../support/faults.ts";
import { makeComment, makeIssue, makeLabel, makeMilestone } from "../../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";

const ISSUES = 1000;
const COMMENTS = 4000;

/** A repository with issues, comments, and one row of everything that belongs to an issue. */
async function makeFull(owner: TestUser): Promise<TestRepo> {
  const repo = await make.repo(owner);
  const [milestone, label] = [await makeMilestone(repo), await makeLabel({ repo })];
  await db.run(sql`
    insert into issues (repo_id, number, poster_id, title, milestone_id, created_at, updated_at)
    with recursive counted(n) as (select 1 union all select n + 1 from counted where n < ${ISSUES})
    select ${repo.id}, n, ${owner.id}, 'one of many', ${milestone.id}, 1000, 1000 from counted`);
  await db.run(sql`
    insert into timeline_entries (repo_id, issue_id, kind, poster_id, body, created_at, updated_at)
    with recursive counted(n) as (select 1 union all select n + 1 from counted where n < ${COMMENTS})
    select ${repo.id}, issues.id, 'comment', ${owner.id}, 'a comment', 1000, 1000
    from counted
    join issues on issues.repo_id = ${repo.id} and issues.number = 1 + n % ${ISSUES / 2}`);
  await db
    .update(repositories)
    .set({ lastIssueNumber: ISSUES })
    .where(eq(repositories.id, repo.id));
  const issue = await makeIssue(repo);
  const { id: issueId, repoId } = issue;
  const { id: entryId } = await makeComment(issue);
  const ofUser = { issueId, userId: owner.id, repoId };
  await db.insert(issueAssignees).values({ ...ofUser, createdAt: 1000 });
  await db.insert(issueMentions).values(ofUser);
  await db.insert(issueSubscriptions).values({ ...ofUser, isSubscribed: true, updatedAt: 1000 });
  await db.insert(reactions).values({ ...ofUser, entryId, content: "heart", createdAt: 1000 });
  await db.insert(trackedTimes).values({ ...ofUser, seconds: 1, createdAt: 1000 });
  await db
    .insert(issueLabels)
    .values({ issueId, labelId: label.id, repoId, isPull: false, isClosed: false });
  await db.insert(notifications).values({
    ...ofUser,
    subject: "issue",
    status: "unread",
    createdAt: 1000,
    updatedAt: 1000,
  });
  return repo;
}

/** The number of rows that are left of a repository. */
async function leftOf({ id }: TestRepo): Promise<number> {
  const [row] = await db.all<{ total: number }>(sql`
    select (select count(*) from issues where repo_id = ${id})
      + (select count(*) from timeline_entries where repo_id = ${id})
      + (select count(*) from labels where repo_id = ${id})
      + (select count(*) from milestones where repo_id = ${id})
      + (select count(*) from notifications where repo_id = ${id})
      + (select count(*) from tracked_times where repo_id = ${id})
      + (select count(*) from issue_labels where repo_id = ${id})
      + (select count(*) from repository_remains where repo_id = ${id}) as total`);
  return row?.total ?? 0;
}

describe("removal of what a deleted repository leaves", () => {
  it("hides the repository at once, and removes 5,000 rows in steps that the schedule continues", async () => {
    const [owner, friend] = [await make.user(), await make.user()];
    const [repo, other] = [await makeFull(owner), await make.repo(friend)];
    const blocked = await makeIssue(other);
    const [blocker] = await db.select().from(issues).where(eq(issues.repoId, repo.id)).limit(1);
    await db
      .insert(issueDependencies)
      .values({ issueId: blocked.id, blockerId: blocker?.id ?? 0, createdAt: 1000 });
    const path = `/repos/${repo.owner}/${repo.name}`;

    // Past the operation, whose deferred steps would run at an unknown time.
    await db.delete(repositories).where(eq(repositories.id, repo.id));
    expect(await leftOf(repo)).toBeGreaterThan(5000);
    for (const rest of ["", "/issues/1", "/labels", "/milestones"]) {
      expect(await call("GET", path + rest, { as: owner })).toMatchObject({ status: 404 });
    }
    // An issue that nobody can close any more blocks nothing.
    expect(
      await call("PATCH", `/repos/${other.owner}/${other.name}/issues/1`, {
        as: friend,
        json: { state: "closed" },
      }),
    ).toMatchObject({ status: 201, body: { state: "closed" } });

    const ctx = systemCtx({}, 1000);
    const before = await leftOf(repo);
    expect(await removeRemains(ctx, repo.id, 3, { issues: 10, rows: 100 })).toBe(0);
    const after = await leftOf(repo);
    expect(before - after).toBeGreaterThan(0);
    expect(before - after).toBeLessThanOrEqual(3 * 120);
    // A run has a bounded number of steps, and repositories that other tests have deleted come
    // before.
    for (let runs = 0; runs < 500 && (await leftOf(repo)) > 0; runs++) await continueRemovals(ctx);
    expect(await leftOf(repo)).toBe(0);
  });

  it("leaves nothing of a small repository, and all of a repository that exists", async () => {
    const owner = await make.user();
    const [repo, kept] = [await make.repo(owner), await make.repo(owner)];
    for (const each of [repo, kept]) {
      await makeComment(await makeIssue(each));
      await makeLabel({ repo: each });
      await makeMilestone(each);
    }
    const path = `/repos/${repo.owner}/${repo.name}`;
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204 });
    expect(await leftOf(repo)).toBe(0);

    await db.insert(repositoryRemains).values({ repoId: kept.id });
    await removeRemains(systemCtx({}, 1000), kept.id, 2);
    expect(await leftOf(kept)).toBe(5);
    await db.delete(repositoryRemains).where(eq(repositoryRemains.repoId, kept.id));
  });

  it(
    "goes on after a failure of any call, and after a crash of the Worker at it",
    { timeout: 120_000 },
    async () => {
      const owner = await make.user();
      const calls = await failCalls(async (fault) => {
        const repo = await make.repo(owner);
        await makeComment(await makeIssue(repo));
        await makeLabel({ repo });
        const path = `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}`;
        const headers = { Authorization: `token ${owner.token}` };
        const faults = failing(fault);
        await serveFailing(new Request(path, { method: "DELETE", headers }), faults.bindings);
        const [row] = await db.select().from(repositories).where(eq(repositories.id, repo.id));
        // The whole repository is there, or the schedule removes the rest.
        await continueRemovals(systemCtx({}, Date.now()));
        expect(await leftOf(repo)).toBe(row ? 3 : 0);
        return faults;
      });
      expect(calls).toBeGreaterThan(3);
    },
  );

  it("refuses new rows of a repository that does not exist", async () => {
    const repo = await make.repo(await make.user());
    await db.delete(repositories).where(eq(repositories.id, repo.id));
    await expect(
      db
        .insert(issues)
        .values({ repoId: repo.id, number: 1, title: "late", createdAt: 1, updatedAt: 1 }),
    ).rejects.toThrow("Failed query");
    await expect(makeLabel({ repo })).rejects.toThrow("Failed query");
    await expect(makeMilestone(repo)).rejects.toThrow("Failed query");
    const found = await db.select().from(labels).where(eq(labels.repoId, repo.id));
    const titled = await db.select().from(milestones).where(eq(milestones.repoId, repo.id));
    expect([...found, ...titled]).toEqual([]);
    await db.delete(repositoryRemains).where(eq(repositoryRemains.repoId, repo.id));
  });
});
