import { asc, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  accessTokens,
  contentVersions,
  events,
  type Issue,
  type Label,
  type Milestone,
  stars,
  timelineEntries,
} from "../../src/db/schema/index.ts";
import { auditOf } from "../support/audit.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { eventsBy } from "../support/events.ts";
import { makeIssue, makeLabel, makeMilestone } from "../support/issues.ts";
import { freshName, make, type TestRepo, type TestUser } from "../support/make.ts";
import { makePull, type TestPull } from "../support/pulls.ts";
import { logged } from "../support/usage.ts";

/** A repository with an issue and a pull request. Two of them differ in every name, text and id. */
interface Scene {
  readonly owner: TestUser;
  readonly writer: TestUser;
  readonly other: TestUser;
  readonly repo: TestRepo;
  readonly issue: Issue;
  readonly pull: TestPull;
  readonly labels: readonly [Label, Label];
  readonly milestone: Milestone;
  readonly day: string;
  readonly oid: string;
  /** A text of its own. */
  readonly text: (name: string) => string;
}

async function makeScene(at: 1 | 2): Promise<Scene> {
  const [owner, writer, other] = [await make.user(), await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, 2);
  // Numbers differ, too.
  if (at === 2) await makeIssue(repo);
  const issue = await makeIssue(repo, { title: freshName("former"), body: freshName("former") });
  const pull = await makePull(repo, { headOid: String(at).repeat(40) });
  const makeNamed = () => makeLabel({ repo }, { name: freshName("label") });
  const mark = freshName("mark");
  return {
    owner,
    writer,
    other,
    repo,
    issue,
    pull,
    labels: [await makeNamed(), await makeNamed()],
    milestone: await makeMilestone(repo, { title: freshName("milestone") }),
    day: `203${at}-0${at}-0${at}`,
    oid: String(at + 2).repeat(40),
    text: (name) => `${name} ${mark}`,
  };
}

/** A request, and what it answers. */
interface Step {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly json?: object;
  readonly as?: TestUser;
  readonly body?: object;
}

function stepsOf({
  owner,
  other,
  repo,
  issue,
  pull,
  labels: [a, b],
  milestone,
  ...scene
}: Scene): Step[] {
  const { text, day } = scene;
  const path = `/repos/${repo.owner}/${repo.name}`;
  const ofIssue = `${path}/issues/${issue.number}`;
  const edit = { title: text("title"), body: text("body"), ref: text("ref") };
  return [
    { method: "PATCH", path: ofIssue, json: edit, body: { ...edit, number: issue.number } },
    {
      method: "PATCH",
      path: ofIssue,
      json: { assignees: [owner.name], milestone: milestone.id, due_date: `${day}T00:00:00Z` },
      body: {
        assignees: [{ id: owner.id }],
        milestone: { id: milestone.id },
        due_date: `${day}T23:59:59Z`,
      },
    },
    {
      method: "PATCH",
      path: ofIssue,
      json: { assignees: [], milestone: 0 },
      body: { assignees: [] },
    },
    {
      method: "POST",
      path: `${ofIssue}/labels`,
      json: { labels: [a.id] },
      body: [{ id: a.id }],
    },
    {
      method: "PUT",
      path: `${ofIssue}/labels`,
      json: { labels: [b.name] },
      body: [{ id: b.id }],
    },
    { method: "DELETE", path: `${ofIssue}/labels/${b.id}` },
    {
      method: "POST",
      path: `${ofIssue}/comments`,
      json: { body: text("comment") },
      body: { body: text("comment") },
    },
    { method: "PATCH", path: ofIssue, json: { state: "closed" }, body: { state: "closed" } },
    { method: "PATCH", path: ofIssue, json: { state: "open" }, body: { state: "open" } },
    { method: "PUT", path: `${ofIssue}/lock`, as: owner, json: { lock_reason: text("reason") } },
    {
      method: "POST",
      path: `${path}/pulls/${pull.number}/reviews`,
      json: { event: "COMMENT", body: text("review"), commit_id: pull.pull.headOid },
      body: { state: "COMMENT", body: text("review"), commit_id: pull.pull.headOid },
    },
    {
      method: "POST",
      path: `${path}/labels`,
      json: { name: text("label"), color: "#00aabb" },
      body: { name: text("label") },
    },
    {
      method: "POST",
      path: `${path}/milestones`,
      json: { title: text("milestone") },
      body: { title: text("milestone") },
    },
    { method: "PUT", path: `/user/starred/${repo.owner}/${repo.name}` },
    {
      method: "POST",
      path: `${path}/hooks`,
      as: owner,
      json: {
        type: "gitea",
        config: { url: `https://example.com/${repo.name}`, content_type: "json" },
        events: ["issues"],
        branch_filter: text("branch"),
      },
      body: { config: { url: `https://example.com/${repo.name}` }, branch_filter: text("branch") },
    },
    {
      method: "PUT",
      path: `${path}/collaborators/${other.name}`,
      as: owner,
      json: { permission: "read" },
    },
    {
      method: "PUT",
      path: `${path}/collaborators/${other.name}`,
      as: owner,
      json: { permission: "write" },
    },
  ];
}

/** Sends the requests of a scene, and counts how often SQL was built for them. */
async function play(scene: Scene): Promise<number> {
  let builds = 0;
  for (const { method, path, json, body, as = scene.writer } of stepsOf(scene)) {
    const { answer, line } = await logged(() => call(method, path, { as, ...(json && { json }) }));
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    const expected = { body: body ?? answer.body };
    expect({ body: answer.body }, `${method} ${path}`).toMatchObject(expected);
    builds += line.sqlBuilds;
  }
  return builds;
}

describe("the SQL of writes", () => {
  it("is built once, and bound to the values of each request", async () => {
    const first = await makeScene(1);
    await play(first);
    const second = await makeScene(2);
    expect(await play(second)).toBe(0);

    for (const { owner, writer, other, repo, issue, pull, labels, milestone, ...scene } of [
      first,
      second,
    ]) {
      const { text, day } = scene;
      const [a, b] = labels;
      const entries = await db
        .select()
        .from(timelineEntries)
        .where(eq(timelineEntries.repoId, repo.id))
        .orderBy(asc(timelineEntries.id));
      const ofIssue = { repoId: repo.id, issueId: issue.id, posterId: writer.id };
      const comment = entries.find(({ kind }) => kind === "comment");
      const review = entries.find(({ kind }) => kind === "review");
      expect(entries).toMatchObject([
        { ...ofIssue, kind: "change_title", oldValue: issue.title, newValue: text("title") },
        { ...ofIssue, kind: "change_issue_ref", oldValue: "", newValue: text("ref") },
        { ...ofIssue, kind: "assignees", assigneeId: owner.id, isAssigneeRemoved: false },
        { ...ofIssue, kind: "milestone", milestoneId: milestone.id, oldMilestoneId: null },
        { ...ofIssue, kind: "added_deadline", body: day },
        { ...ofIssue, kind: "assignees", assigneeId: owner.id, isAssigneeRemoved: true },
        { ...ofIssue, kind: "milestone", milestoneId: null, oldMilestoneId: milestone.id },
        { ...ofIssue, kind: "label", labelId: a.id, body: "1" },
        { ...ofIssue, kind: "label", labelId: a.id, body: "" },
        { ...ofIssue, kind: "label", labelId: b.id, body: "1" },
        { ...ofIssue, kind: "label", labelId: b.id, body: "" },
        { ...ofIssue, kind: "comment", body: text("comment") },
        { ...ofIssue, kind: "close" },
        { ...ofIssue, kind: "reopen" },
        { ...ofIssue, kind: "lock", posterId: owner.id, body: text("reason") },
        { ...ofIssue, kind: "review", issueId: pull.id, body: text("review") },
      ]);
      const versions = await db
        .select()
        .from(contentVersions)
        .where(eq(contentVersions.issueId, issue.id))
        .orderBy(asc(contentVersions.id));
      expect(versions).toMatchObject([
        { body: issue.body, editorId: owner.id },
        { body: text("body"), editorId: writer.id },
      ]);

      const subject = { issueId: issue.id, number: issue.number, isPull: false };
      const recorded = await eventsBy(writer);
      const ofWriter = { ownerId: owner.id, repoId: repo.id };
      expect(new Set(recorded.map(({ ownerId }) => ownerId))).toEqual(new Set([owner.id]));
      expect(new Set(recorded.map(({ repoId }) => repoId))).toEqual(new Set([repo.id]));
      expect(recorded).toMatchObject([
        {
          ...ofWriter,
          type: "issue.edited",
          payload: { ...subject, from: { title: issue.title, body: issue.body, ref: "" } },
        },
        { type: "issue.assigned", payload: { ...subject, userId: owner.id } },
        { type: "issue.milestoned", payload: { ...subject, milestoneId: milestone.id } },
        {
          type: "issue.deadline_changed",
          payload: { ...subject, deadlineAt: Date.parse(`${day}T23:59:59Z`) },
        },
        { type: "issue.unassigned", payload: { ...subject, userId: owner.id } },
        { type: "issue.demilestoned", payload: { ...subject, milestoneId: milestone.id } },
        { type: "issue.labeled", payload: { ...subject, added: [a.id], removed: [] } },
        { type: "issue.labeled", payload: { ...subject, added: [b.id], removed: [a.id] } },
        { type: "issue.labeled", payload: { ...subject, added: [], removed: [b.id] } },
        { type: "comment.created", payload: { ...subject, commentId: comment?.id } },
        { type: "issue.closed", payload: subject },
        { type: "issue.reopened", payload: subject },
        {
          type: "review.submitted",
          payload: { issueId: pull.id, number: pull.number, reviewId: review?.reviewId },
        },
        { type: "label.created" },
        { type: "milestone.created" },
        { type: "star.created" },
      ]);
      expect(await db.select().from(stars).where(eq(stars.repoId, repo.id))).toMatchObject([
        { userId: writer.id, visibility: "public" },
      ]);

      const ofOwner = { ownerId: owner.id, repoId: repo.id, actorId: owner.id };
      const named = { repoName: `${owner.name}/${repo.name}`, actorName: owner.name };
      const ofOther = { userId: other.id, userName: other.name };
      expect(await auditOf(owner)).toMatchObject([
        { ...ofOwner, ...named, kind: "hook.created", details: { host: "example.com" } },
        {
          ...ofOwner,
          ...named,
          ...ofOther,
          kind: "collaborator.added",
          details: { permission: "read" },
        },
        {
          ...ofOwner,
          ...named,
          ...ofOther,
          kind: "collaborator.edited",
          details: { permission: "write" },
        },
      ]);
    }
  });

  it("keeps the numbers of events integers, which D1 binds as floats", async () => {
    const scene = await makeScene(1);
    await play(scene);
    const results = await db.all<{ payload: string }>(
      sql`select payload from ${events} where ${events.repoId} = ${scene.repo.id}`,
    );
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter(({ payload }) => /\d\.0\b/.test(payload))).toEqual([]);
  });

  it("gives each token its own values", async () => {
    const [first, second] = [await make.user(), await make.user()];
    for (const [at, user] of [first, second].entries()) {
      const json = { name: freshName("token"), scopes: [at === 0 ? "read:issue" : "write:user"] };
      const made = await call("POST", `/users/${user.name}/tokens`, { as: user, json });
      expect(made, JSON.stringify(made.body)).toMatchObject({
        status: 201,
        body: { name: json.name, scopes: json.scopes },
      });
      const [token] = await db.select().from(accessTokens).where(eq(accessTokens.name, json.name));
      expect(token).toMatchObject({ userId: user.id, scopes: json.scopes[0] });
      expect((await auditOf(user)).at(-1)).toMatchObject({
        kind: "access_token.created",
        target: json.name,
        details: { tokenId: token?.id, scopes: json.scopes[0], repositories: null },
      });
    }
  });
});
