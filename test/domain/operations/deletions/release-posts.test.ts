import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  accountDeletions,
  attachments,
  contentVersions,
  issueAssignees,
  issueLabels,
  issues,
  reactions,
  timelineEntries,
  users,
} from "../../../../src/db/schema/index.ts";
import {
  deleteSomeComments,
  releaseSomePosts,
} from "../../../../src/domain/operations/deletions/release-posts.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { makeComment, makeIssue, makeLabel } from "../../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";

const COMMENTS = 2500;

/** Comments of a user on the first issue of a repository. */
async function makeManyComments(repo: TestRepo, poster: TestUser): Promise<void> {
  const { id } = await makeIssue(repo, { posterId: poster.id });
  await db.run(sql`
    insert into timeline_entries (repo_id, issue_id, kind, poster_id, body, created_at, updated_at)
    with recursive counted(n) as (select 1 union all select n + 1 from counted where n < ${COMMENTS})
    select ${repo.id}, ${id}, 'comment', ${poster.id}, 'one of many', 1000, 1000 from counted`);
}

const postsOf = async (poster: TestUser): Promise<number> => {
  const [row] = await db.all<{ total: number }>(sql`
    select count(*) as total from timeline_entries where poster_id = ${poster.id}`);
  return row?.total ?? 0;
};

describe("what a deleted account posted", () => {
  it("stays in issues of others, as by nobody, also where it is much", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const repo = await make.repo(await make.user());
    await makeManyComments(repo, user);
    const answer = await call("DELETE", `/admin/users/${user.name}`, { as: admin });
    expect(answer.status).toBe(204);
    expect(await db.select().from(users).where(eq(users.id, user.id))).toEqual([]);
    const path = `/repos/${repo.owner}/${repo.name}/issues/1`;
    expect(await call("GET", path)).toMatchObject({
      body: { user: { id: -1, login: "Ghost" }, comments: COMMENTS },
    });
    const left = await db.select().from(accountDeletions);
    expect(left.filter(({ accountId }) => accountId === user.id)).toEqual([]);
  });

  it("goes with a purge where it is a comment, and stays where it is more", async () => {
    const [admin, user, other] = [await make.admin(), await make.user(), await make.user()];
    const repo = await make.repo(other);
    await makeManyComments(repo, user);
    const path = `/repos/${repo.owner}/${repo.name}/issues`;
    await call("POST", path, { as: user, json: { title: "By the user", body: "text" } });
    const kept = await call("POST", `${path}/1/comments`, { as: other, json: { body: "Mine" } });
    const gone = await call("POST", `${path}/1/comments`, { as: user, json: { body: "Yours" } });
    const reaction = `${path}/comments/${kept.body.id}/reactions`;
    await call("POST", reaction, { as: user, json: { content: "heart" } });
    await call("POST", `${path}/comments/${gone.body.id}/reactions`, {
      as: other,
      json: { content: "heart" },
    });
    await call("POST", `${path}/comments/${gone.body.id}/assets?name=a.txt`, {
      as: user,
      body: "text",
      headers: { "Content-Type": "application/octet-stream" },
    });
    const answer = await call("DELETE", `/admin/users/${user.name}?purge=true`, { as: admin });
    expect(answer.status).toBe(204);
    expect(await db.select().from(users).where(eq(users.id, user.id))).toEqual([]);
    expect((await call("GET", `${path}/1/comments`)).body).toMatchObject([{ body: "Mine" }]);
    expect((await call("GET", `${path}/1`)).body).toMatchObject({ comments: 1 });
    expect((await call("GET", reaction)).body ?? []).toEqual([]);
    expect((await call("GET", `${path}/2`)).body).toMatchObject({
      title: "By the user",
      body: "text",
      user: { id: -1, login: "Ghost" },
    });
    const ofComment = eq(attachments.entryId, gone.body.id);
    expect(await db.select().from(attachments).where(ofComment)).toEqual([]);
    const left = await db.select().from(reactions).where(eq(reactions.entryId, gone.body.id));
    expect(left).toEqual([]);
    expect((await call("GET", `${path}/comments/${gone.body.id}`)).status).toBe(404);
  });

  it("is deleted in bounded steps of comments, each of which may be repeated", async () => {
    const user = await make.user();
    const repo = await make.repo(await make.user());
    await makeManyComments(repo, user);
    for (const left of [COMMENTS - 1000, COMMENTS - 2000, 0, 0]) {
      await db.batch([
        deleteSomeComments(db, user.id, 1000),
        ...releaseSomePosts(db, user.id, 1000, { keepsComments: true }),
      ]);
      expect(await postsOf(user)).toBe(left);
    }
  });

  it("is released in bounded steps, each of which may be repeated", async () => {
    const user = await make.user();
    const repo = await make.repo(await make.user());
    await makeManyComments(repo, user);
    await db.batch([...releaseSomePosts(db, user.id, 1000, { keepsComments: false })]);
    expect(await postsOf(user)).toBe(COMMENTS - 1000);
    await db.batch([...releaseSomePosts(db, user.id, 1000, { keepsComments: false })]);
    await db.batch([...releaseSomePosts(db, user.id, 1000, { keepsComments: false })]);
    expect(await postsOf(user)).toBe(0);
  });

  it("is what foreign keys would leave: posts without an author, and neither roles nor reactions", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const repo = await make.repo(await make.user());
    const issue = await makeIssue(repo, { posterId: user.id });
    const foreign = await makeIssue(repo);
    const ofIssue = { issueId: issue.id, repoId: repo.id, createdAt: 1000 };
    for (const { id: userId } of [user, other]) {
      await db.insert(issueAssignees).values({ ...ofIssue, userId });
      await db.insert(reactions).values({ ...ofIssue, userId, content: "heart" });
      await makeComment(foreign, { posterId: userId, kind: "assignees", assigneeId: userId });
      await db.insert(contentVersions).values({ ...ofIssue, editorId: userId, body: "was" });
    }
    await db.batch([...releaseSomePosts(db, user.id, 1000, { keepsComments: false })]);
    const isOfIssue = { issueId: issue.id };
    expect(await db.select().from(issues).where(eq(issues.repoId, repo.id))).toMatchObject([
      { posterId: null },
      { posterId: repo.ownerId },
    ]);
    const assignees = eq(issueAssignees.issueId, isOfIssue.issueId);
    expect(await db.select().from(issueAssignees).where(assignees)).toMatchObject([
      { userId: other.id },
    ]);
    const reacted = eq(reactions.issueId, issue.id);
    expect(await db.select().from(reactions).where(reacted)).toMatchObject([{ userId: other.id }]);
    const entries = eq(timelineEntries.issueId, foreign.id);
    expect(await db.select().from(timelineEntries).where(entries)).toMatchObject([
      { posterId: null, assigneeId: null },
      { posterId: other.id, assigneeId: other.id },
    ]);
    const versions = eq(contentVersions.issueId, issue.id);
    expect(await db.select().from(contentVersions).where(versions)).toMatchObject([
      { editorId: null },
      { editorId: other.id },
    ]);
  });

  it("takes the labels of a deleted organization off issues", async () => {
    const org = await make.org([await make.user()]);
    const [label, kept] = [await makeLabel({ org }), await makeLabel({ org: await make.org([]) })];
    const { id: issueId, repoId } = await makeIssue(await make.repo(await make.user()));
    for (const { id: labelId } of [label, kept]) {
      await db
        .insert(issueLabels)
        .values({ issueId, labelId, repoId, isPull: false, isClosed: false });
    }
    await db.batch([...releaseSomePosts(db, org.id, 1000, { keepsComments: false })]);
    const left = await db.select().from(issueLabels).where(eq(issueLabels.issueId, issueId));
    expect(left).toMatchObject([{ labelId: kept.id }]);
  });
});
