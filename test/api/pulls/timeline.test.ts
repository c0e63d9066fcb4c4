import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { reviews, timelineEntries, type TimelineEntry } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeCodeComment, makePull, makeReview, type TestPull } from "../../support/pulls.ts";

const pathOf = ({ owner, name }: TestRepo, { number }: { number: number }, query = "") =>
  `/repos/${owner}/${name}/issues/${number}/timeline${query}`;

/** Stores an entry of a timeline, past the API. */
const makeEntry = (pull: TestPull, fields: Partial<TimelineEntry> & Pick<TimelineEntry, "kind">) =>
  makeComment(pull, { body: "", ...fields });

/** The types and texts of the listed entries, and the total. */
async function listed(path: string, as?: TestUser): Promise<[string[], string | null]> {
  const { status, body, headers } = await call("GET", path, as ? { as } : {});
  expect(status).toBe(200);
  const items: { type: string; body: string }[] = body;
  return [items.map((each) => `${each.type} ${each.body}`), headers.get("X-Total-Count")];
}

async function makeScene() {
  const [owner, reviewer] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  return { owner, reviewer, repo, pull: await makePull(repo) };
}

describe("the timeline of a pull request", () => {
  it("shows every kind of entry of its own with what it refers to", async () => {
    const { owner, reviewer, repo, pull } = await makeScene();
    const team = await make.team(await make.org([owner]));
    const other = await makePull(repo, {}, { title: "the other" });
    const pushed = '{"is_force_push":false,"commit_ids":["1"]}';
    const request = await makeReview(pull, { state: "request_review", reviewerId: reviewer.id });
    const asked = { kind: "review_request", reviewId: request.id } as const;
    await makeEntry(pull, { kind: "pull_push", body: pushed });
    await makeEntry(pull, { ...asked, assigneeId: reviewer.id });
    await makeEntry(pull, { ...asked, reviewId: null, teamId: team.id, isAssigneeRemoved: true });
    const by = { reviewerId: reviewer.id };
    const review = await makeReview(pull, { ...by, state: "request_changes", body: "No" });
    await makeCodeComment(pull, review, {}, { body: "This line" });
    await makeEntry(pull, { kind: "dismiss_review", reviewId: review.id, body: "It is late" });
    await makeEntry(pull, { kind: "change_target_branch", oldValue: "main", newValue: "next" });
    await makeEntry(pull, { kind: "pull_scheduled_merge" });
    await makeEntry(pull, { kind: "pull_cancel_scheduled_merge" });
    await makeEntry(pull, { kind: "pull_ref", otherIssueId: other.id, refAction: "closes" });
    await makeEntry(pull, { kind: "merge_pull" });
    await makeEntry(pull, { kind: "delete_branch", oldValue: "topic" });

    const { body, headers } = await call("GET", pathOf(repo, pull));
    expect(headers.get("X-Total-Count")).toBe("11");
    const page = `https://forge.example/${owner.name}/${repo.name}/pulls/${pull.number}`;
    const none = { review_id: 0, assignee: null, assignee_team: null, old_ref: "", new_ref: "" };
    const ofReview = { ...none, review_id: review.id };
    expect(body).toMatchObject([
      { type: "pull_push", body: pushed, ...none, issue_url: "", pull_request_url: page },
      {
        type: "review_request",
        ...none,
        review_id: request.id,
        assignee: { login: reviewer.name },
        removed_assignee: false,
      },
      {
        type: "review_request",
        ...none,
        assignee_team: { id: team.id, name: team.name, organization: null },
        removed_assignee: true,
      },
      { type: "review", body: "No", ...ofReview, user: { login: reviewer.name } },
      { type: "dismiss_review", body: "It is late", ...ofReview },
      { type: "change_target_branch", ...none, old_ref: "main", new_ref: "next" },
      { type: "pull_scheduled_merge", body: "", ...none },
      { type: "pull_cancel_scheduled_merge", body: "", ...none },
      { type: "pull_ref", ref_issue: { title: "the other" }, ref_action: "closes" },
      { type: "merge_pull", body: "", ref_commit_sha: "", ...none },
      { type: "delete_branch", ...none, old_ref: "topic" },
    ]);
    for (const { html_url: url, id } of body) expect(url).toBe(`${page}#issuecomment-${id}`);
  });

  // SECURITY: a pending review is its author's alone: not the poster's, the owner's or an
  // administrator's.
  it("shows a pending review to its author only, also in totals and by time", async () => {
    const { owner, reviewer, repo, pull } = await makeScene();
    const by = { reviewerId: reviewer.id };
    await makeReview(pull, { ...by, body: "first" });
    const pending = await makeReview(pull, { ...by, state: "pending" });
    await makeEntry(pull, { kind: "review", reviewId: pending.id, body: "secret" });
    await makeCodeComment(pull, pending, {}, { body: "secret, too" });
    await makeComment(pull, { body: "last" });
    const path = pathOf(repo, pull);
    const ranged = pathOf(repo, pull, "?since=1970-01-01T00:00:00Z&before=2030-01-01T00:00:00Z");
    for (const as of [undefined, owner, await make.admin(), await make.user()]) {
      for (const each of [path, ranged]) {
        expect(await listed(each, as)).toEqual([["review first", "comment last"], "2"]);
      }
    }
    const own = [["review first", "review secret", "comment last"], "3"];
    for (const each of [path, ranged]) expect(await listed(each, reviewer)).toEqual(own);

    await db.update(reviews).set({ state: "comment" }).where(eq(reviews.id, pending.id));
    expect(await listed(path)).toEqual(own);
  });

  // SECURITY: the author's account is gone, and nobody else may become the author.
  it("shows a pending review to nobody once its author is deleted", async () => {
    const { reviewer, repo, pull } = await makeScene();
    const pending = await makeReview(pull, { state: "pending", reviewerId: reviewer.id });
    await makeEntry(pull, { kind: "review", reviewId: pending.id, body: "secret" });
    await db.update(reviews).set({ reviewerId: null }).where(eq(reviews.id, pending.id));
    for (const as of [undefined, reviewer]) {
      expect(await listed(pathOf(repo, pull), as)).toEqual([[], "0"]);
    }
  });

  it("shows an issue the pull request that would close it", async () => {
    const { repo, pull } = await makeScene();
    const issue = await makeIssue(repo);
    const { id: issueId, repoId } = issue;
    await db.insert(timelineEntries).values({
      kind: "pull_ref",
      repoId,
      issueId,
      otherIssueId: pull.id,
      refAction: "closes",
      createdAt: 1000,
      updatedAt: 1000,
    });
    const { body } = await call("GET", pathOf(repo, issue));
    expect(body).toMatchObject([
      {
        type: "pull_ref",
        ref_action: "closes",
        ref_issue: { number: pull.number, pull_request: { merged: false } },
      },
    ]);
  });
});
