import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  issues,
  repositories,
  timelineEntries,
  trackedTimes,
  type Issue,
  type TimelineEntry,
} from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

const pathOf = ({ owner, name }: TestRepo, { number }: Issue, query = "") =>
  `/repos/${owner}/${name}/issues/${number}/timeline${query}`;

/** Stores an entry of a timeline, past the API. */
const makeEntry = (issue: Issue, fields: Partial<TimelineEntry> & Pick<TimelineEntry, "kind">) =>
  makeComment(issue, { body: "", ...fields });

/** The types of the listed entries, and the total. */
async function listed(path: string, as?: TestUser): Promise<[string[], string | null]> {
  const { status, body, headers } = await call("GET", path, as ? { as } : {});
  expect(status).toBe(200);
  return [body.map(({ type }: { type: string }) => type), headers.get("X-Total-Count")];
}

const OID = "c0ffee".repeat(6) + "c0ff";

describe("GET /repos/{owner}/{repo}/issues/{index}/timeline", () => {
  it("shows every kind of entry with what it refers to", async () => {
    const owner = await make.user();
    const friend = await make.user();
    const repo = await make.repo(owner);
    const issue = await makeIssue(repo, { title: "the subject" });
    const other = await makeIssue(repo, { title: "the other" });
    const label = await makeLabel({ repo });
    const [milestone, oldMilestone] = [await makeMilestone(repo), await makeMilestone(repo)];
    const comment = await makeComment(other, { body: "see there" });
    const time = only(
      await db
        .insert(trackedTimes)
        .values({
          repoId: repo.id,
          issueId: issue.id,
          userId: friend.id,
          seconds: 90,
          createdAt: 1000,
        })
        .returning(),
    );
    await makeComment(issue, { body: "a comment" });
    await makeEntry(issue, { kind: "label", labelId: label.id, body: "1" });
    const ids = { milestoneId: milestone.id, oldMilestoneId: oldMilestone.id };
    await makeEntry(issue, { kind: "milestone", ...ids });
    const assignment = { assigneeId: friend.id, isAssigneeRemoved: true };
    await makeEntry(issue, { kind: "assignees", ...assignment });
    await makeEntry(issue, { kind: "change_title", oldValue: "before", newValue: "the subject" });
    await makeEntry(issue, { kind: "change_issue_ref", oldValue: "a", newValue: "b" });
    await makeEntry(issue, { kind: "issue_ref", otherIssueId: other.id, refAction: "closes" });
    await makeEntry(issue, {
      kind: "comment_ref",
      otherIssueId: other.id,
      otherEntryId: comment.id,
    });
    await makeEntry(issue, { kind: "add_dependency", otherIssueId: other.id });
    await makeEntry(issue, { kind: "commit_ref", commitOid: OID, commitRepoId: repo.id });
    await makeEntry(issue, { kind: "add_time_manual", timeId: time.id, body: "1 minute" });
    await makeEntry(issue, { kind: "close", posterId: null });

    const { answer, line } = await logged(() => call("GET", pathOf(repo, issue), { as: owner }));
    const nothing = {
      user: { login: owner.name },
      body: "",
      label: null,
      milestone: null,
      old_milestone: null,
      assignee: null,
      assignee_team: null,
      removed_assignee: false,
      old_title: "",
      new_title: "",
      old_ref: "",
      new_ref: "",
      ref_issue: null,
      ref_comment: null,
      ref_action: "none",
      ref_commit_sha: "",
      dependent_issue: null,
      tracked_time: null,
      resolve_doer: null,
      review_id: 0,
      project_id: 0,
      old_project_id: 0,
      pull_request_url: "",
      issue_url: `https://forge.example/${repo.owner}/${repo.name}/issues/${issue.number}`,
    };
    expect(answer.body).toMatchObject([
      { ...nothing, type: "comment", body: "a comment" },
      { ...nothing, type: "label", body: "1", label: { name: label.name } },
      {
        ...nothing,
        type: "milestone",
        milestone: { title: milestone.title },
        old_milestone: { title: oldMilestone.title },
      },
      {
        ...nothing,
        type: "assignees",
        assignee: { login: friend.name },
        removed_assignee: true,
      },
      { ...nothing, type: "change_title", old_title: "before", new_title: "the subject" },
      { ...nothing, type: "change_issue_ref", old_ref: "a", new_ref: "b" },
      { ...nothing, type: "issue_ref", ref_issue: { title: "the other" }, ref_action: "closes" },
      {
        ...nothing,
        type: "comment_ref",
        ref_issue: { title: "the other", number: other.number },
        ref_comment: { id: comment.id, body: "see there" },
      },
      { ...nothing, type: "add_dependency", dependent_issue: { title: "the other" } },
      { ...nothing, type: "commit_ref", ref_commit_sha: OID },
      {
        ...nothing,
        type: "add_time_manual",
        body: "1 minute",
        tracked_time: { time: 90, user_name: friend.name, issue: { title: "the subject" } },
      },
      { ...nothing, type: "close", user: { login: "Ghost" } },
    ]);
    // The guard and one batch, however many entries refer to anything.
    expect(line.d1Rounds).toBe(2);
    expect(line.d1Calls).toBe(2);
  });

  it("lists a page, the total, and the entries of a range of time", async () => {
    const repo = await make.repo(await make.user());
    const issue = await makeIssue(repo);
    await makeComment(issue, { updatedAt: 10_000 });
    await makeEntry(issue, { kind: "close", updatedAt: 20_000 });
    await makeEntry(issue, { kind: "reopen", updatedAt: 30_000 });
    await makeComment(await makeIssue(repo), { body: "elsewhere" });
    const list = (query: string) => listed(pathOf(repo, issue, query));
    expect(await list("")).toEqual([["comment", "close", "reopen"], "3"]);
    expect(await list("?page=2&limit=1")).toEqual([["close"], "3"]);
    expect(await list("?page=9&limit=1")).toEqual([[], "3"]);
    expect(await list("?since=1970-01-01T00:00:20Z")).toEqual([["close", "reopen"], "2"]);
    expect(await list("?before=1970-01-01T00:00:20Z")).toEqual([["comment", "close"], "2"]);
    expect(await call("GET", pathOf(repo, issue, "?before=x"))).toMatchObject({ status: 422 });
  });

  it("finds no issue of a repository that the caller may not see", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const issue = await makeIssue(repo);
    await makeComment(issue);
    expect(await listed(pathOf(repo, issue), owner)).toEqual([["comment"], "1"]);
    const stranger = await make.user();
    for (const sending of [{ as: stranger }, {}]) {
      const answer = await call("GET", pathOf(repo, issue), sending);
      expect(answer).toMatchObject({ status: 404, body: "" });
    }
  });
});

// SECURITY: a reference from a repository that the reader may not see reveals what happens there,
// even without its title.
describe("references to issues that the reader may not see", () => {
  async function makeReferences() {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const issue = await makeIssue(repo);
    const elsewhere = await make.repo(owner, { isPrivate: true });
    const hidden = await makeIssue(elsewhere, { title: "the hidden title" });
    const secret = await makeComment(hidden, { body: "the hidden text" });
    await makeComment(issue);
    await makeEntry(issue, { kind: "issue_ref", otherIssueId: hidden.id });
    const both = { otherIssueId: hidden.id, otherEntryId: secret.id };
    await makeEntry(issue, { kind: "comment_ref", ...both });
    await makeEntry(issue, { kind: "comment_ref", otherEntryId: secret.id });
    await makeEntry(issue, { kind: "add_dependency", otherIssueId: hidden.id });
    await makeEntry(issue, { kind: "remove_dependency", otherIssueId: hidden.id });
    await makeEntry(issue, { kind: "commit_ref", commitOid: OID, commitRepoId: elsewhere.id });
    await makeEntry(issue, { kind: "close" });
    return { owner, repo, issue, elsewhere, hidden };
  }
  const ALL = [
    "comment",
    "issue_ref",
    "comment_ref",
    "comment_ref",
    "add_dependency",
    "remove_dependency",
    "commit_ref",
    "close",
  ];

  it("are left out of the list, of its pages and of its total", async () => {
    const { owner, repo, issue } = await makeReferences();
    expect(await listed(pathOf(repo, issue), owner)).toEqual([ALL, "8"]);
    const [stranger, writer] = [await make.user(), await make.user()];
    await make.collaborator(repo, writer, 2);
    for (const reader of [stranger, writer, undefined]) {
      expect(await listed(pathOf(repo, issue), reader)).toEqual([["comment", "close"], "2"]);
      expect(await listed(pathOf(repo, issue, "?page=2&limit=1"), reader)).toEqual([
        ["close"],
        "2",
      ]);
      expect(await listed(pathOf(repo, issue, "?since=1970-01-01T00:00:00Z"), reader)).toEqual([
        ["comment", "close"],
        "2",
      ]);
      const { body } = await call("GET", pathOf(repo, issue), reader ? { as: reader } : {});
      expect(JSON.stringify(body)).not.toContain("hidden");
    }
  });

  it("appear with a grant, and disappear when it ends", async () => {
    const { repo, issue, elsewhere } = await makeReferences();
    const reader = await make.user();
    await make.collaborator(elsewhere, reader, 1);
    expect(await listed(pathOf(repo, issue), reader)).toEqual([ALL, "8"]);
    await db
      .update(repositories)
      .set({ hasIssues: false })
      .where(eq(repositories.id, elsewhere.id));
    expect(await listed(pathOf(repo, issue), reader)).toEqual([
      ["comment", "commit_ref", "close"],
      "3",
    ]);
  });

  it("follow a token's binding to repositories, and public-only tokens", async () => {
    const { owner, repo, issue, elsewhere } = await makeReferences();
    const token = (fields: Parameters<typeof make.token>[1]) => make.token(owner, fields);
    const types = async (sent: string) => {
      const { body } = await call("GET", pathOf(repo, issue), { token: sent });
      return body.map(({ type }: { type: string }) => type);
    };
    expect(await types(await token({ repos: [repo, elsewhere] }))).toEqual(ALL);
    expect(await types(await token({ repos: [repo] }))).toEqual(["comment", "close"]);
    expect(await types(await token({ scopes: "all,public-only" }))).toEqual(["comment", "close"]);
  });

  it("are checked by the unit of each, also within the repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const issue = await makeIssue(repo);
    const pull = await makeIssue(repo, { isPull: true });
    await makeEntry(issue, { kind: "pull_ref", otherIssueId: pull.id });
    await makeEntry(issue, { kind: "commit_ref", commitOid: OID, commitRepoId: repo.id });
    const reader = await make.user();
    expect(await listed(pathOf(repo, issue), reader)).toEqual([["pull_ref", "commit_ref"], "2"]);
    await db
      .update(repositories)
      .set({ hasPullRequests: false, hasCode: false })
      .where(eq(repositories.id, repo.id));
    expect(await listed(pathOf(repo, issue), reader)).toEqual([[], "0"]);
  });

  it("vanish with the other issue", async () => {
    const { owner, repo, issue, hidden } = await makeReferences();
    await db.delete(issues).where(eq(issues.id, hidden.id));
    expect(await listed(pathOf(repo, issue), owner)).toEqual([
      ["comment", "commit_ref", "close"],
      "3",
    ]);
    const isOfIssue = eq(timelineEntries.issueId, issue.id);
    expect(await db.select().from(timelineEntries).where(isOfIssue)).toHaveLength(3);
  });
});
