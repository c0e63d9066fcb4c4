import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  issues,
  repositories,
  reviews,
  timelineEntries,
  type Issue,
  type Review,
} from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";

import { pushOf, recordEvent } from "../../support/activities.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { readAll } from "../../support/list.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeCodeComment, makePull, makeReview } from "../../support/pulls.ts";
import { makeEmptyPack, push } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

async function scene(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  return { owner, repo, path: `/repos/${owner.name}/${repo.name}/activities/feeds` };
}

const deedsIn = (body: { op_type: string }[]) => body.map((each) => each.op_type);

describe("GET /repos/{owner}/{repo}/activities/feeds", () => {
  it("lists activities, latest first, with Gitea's operation types", async () => {
    const { owner, repo, path } = await scene();
    await recordEvent(repo, owner);
    await recordEvent(repo, owner, "repository.renamed", { from: "before", to: repo.name });
    await recordEvent(repo, owner, "star.created", {});
    await recordEvent(repo, owner, "commit_status.created", {});
    const refs = ["refs/heads/main", "refs/notes/commits", "refs/tags/v1", "refs/tags/v0 gone"];
    await recordEvent(repo, owner, "repository.pushed", pushOf(...refs, "refs/heads/old gone"));

    const { answer, line } = await logged(() => call("GET", path));
    expect(answer.status).toBe(200);
    expect(deedsIn(answer.body)).toEqual([
      "commit_repo",
      "push_tag",
      "delete_tag",
      "delete_branch",
      "rename_repo",
      "create_repo",
    ]);
    expect(answer.headers.get("X-Total-Count")).toBe("6");
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
    expect([line.objectCalls, line.r2Calls]).toEqual([0, 0]);
    expect(answer.body[0]).toMatchObject({
      act_user_id: owner.id,
      act_user: { login: owner.name },
      repo_id: repo.id,
      repo: { full_name: `${owner.name}/${repo.name}` },
      comment_id: 0,
      comment: null,
      ref_name: "refs/heads/main",
      is_private: false,
    });
    expect(answer.body[4]).toMatchObject({ content: "before", ref_name: "" });
    expect(new Set(answer.body.map(({ id }: { id: number }) => id)).size).toBe(6);
  });

  it("lists issues with their number and title, and comments with their beginning", async () => {
    const { owner, repo, path } = await scene();
    const friend = await make.user();
    const issue = await makeIssue(repo, { title: "It rains | again" });
    const pull = await makeIssue(repo, { isPull: true, title: "Mend the roof" });
    const body = `${"word ".repeat(60)}end`;
    const comment = await makeComment(issue, { posterId: friend.id, body });
    const reply = await makeComment(pull, { body: "Thank you" });
    const of = ({ id: issueId, number, isPull }: Issue) => ({ issueId, number, isPull });
    await recordEvent(repo, owner, "issue.opened", of(issue));
    await recordEvent(repo, friend, "comment.created", { ...of(issue), commentId: comment.id });
    await recordEvent(repo, owner, "issue.closed", { ...of(issue), commitOid: "" });
    await recordEvent(repo, owner, "issue.reopened", { ...of(issue), commitOid: "" });
    await recordEvent(repo, owner, "issue.edited", { ...of(issue), from: {} });
    await recordEvent(repo, owner, "issue.opened", of(pull));
    await recordEvent(repo, owner, "comment.created", { ...of(pull), commentId: reply.id });
    await recordEvent(repo, owner, "issue.closed", { ...of(pull), commitOid: "" });
    await recordEvent(repo, owner, "issue.reopened", { ...of(pull), commitOid: "" });

    const { answer, line } = await logged(() => call("GET", path));
    expect(answer.headers.get("X-Total-Count")).toBe("8");
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
    const shown = answer.body.map((each: { op_type: string; content: string }) => [
      each.op_type,
      each.content,
    ]);
    expect(shown).toEqual([
      ["reopen_pull_request", "2|Mend the roof"],
      ["close_pull_request", "2|Mend the roof"],
      ["comment_pull", "2|Thank you"],
      ["create_pull_request", "2|Mend the roof"],
      ["reopen_issue", "1|It rains | again"],
      ["close_issue", "1|It rains | again"],
      ["comment_issue", `1|${"word ".repeat(39)}word…`],
      ["create_issue", "1|It rains | again"],
    ]);
    const page = `https://forge.example/${owner.name}/${repo.name}/issues/1`;
    expect(answer.body[6]).toMatchObject({
      act_user: { login: friend.name },
      comment_id: comment.id,
      comment: {
        id: comment.id,
        body,
        user: { login: friend.name },
        issue_url: page,
        html_url: `${page}#issuecomment-${comment.id}`,
      },
      ref_name: "",
    });
    expect(answer.body[7]).toMatchObject({ comment_id: 0, comment: null });
  });

  it("lists nothing of deleted issues and comments", async () => {
    const { owner, repo, path } = await scene();
    const [issue, other] = [await makeIssue(repo), await makeIssue(repo)];
    const comment = await makeComment(issue);
    const of = ({ id: issueId, number }: Issue) => ({ issueId, number, isPull: false });
    await recordEvent(repo, owner, "issue.opened", of(issue));
    await recordEvent(repo, owner, "comment.created", { ...of(issue), commentId: comment.id });
    await recordEvent(repo, owner, "issue.opened", of(other));
    const shown = async () => deedsIn((await call("GET", path)).body);
    expect(await shown()).toEqual(["create_issue", "comment_issue", "create_issue"]);
    await db.delete(timelineEntries).where(eq(timelineEntries.id, comment.id));
    expect(await shown()).toEqual(["create_issue", "create_issue"]);
    await db.delete(issues).where(eq(issues.id, issue.id));
    expect(await shown()).toEqual(["create_issue"]);
  });

  it("lists merges and reviews of pull requests", async () => {
    const { owner, repo, path } = await scene();
    const reviewer = await make.user();
    const pull = await makePull(repo, {}, { title: "A roof" });
    const { id: issueId, number } = pull;
    const of = { issueId, number };
    const by = { reviewerId: reviewer.id };
    const review = (fields: Partial<Review>) => makeReview(pull, { ...by, ...fields });
    const approval = await review({ body: "Well done" });
    const rejection = await review({ state: "request_changes", body: "" });
    const remark = await review({ state: "comment", body: "" });
    const code = await makeCodeComment(pull, remark, {}, { body: "This line" });
    const submit = ({ id: reviewId, state }: Review) =>
      recordEvent(repo, reviewer, "review.submitted", { ...of, reviewId, state });
    for (const each of [approval, rejection, remark]) await submit(each);
    const why = { kind: "dismiss_review", reviewId: rejection.id, body: "It is late" } as const;
    await makeComment(pull, why);
    await recordEvent(repo, owner, "review.dismissed", { ...of, reviewId: rejection.id });
    await recordEvent(repo, owner, "pull.ready", of);
    const merged = { ...of, mergeCommitOid: "1".repeat(40), mergeKind: "merge" };
    await recordEvent(repo, owner, "pull.merged", { ...merged, isAutomatic: false });
    await recordEvent(repo, owner, "pull.merged", { ...merged, isAutomatic: true });
    await recordEvent(repo, owner, "pull.retargeted", { ...of, from: "a", to: "b" });

    const { body } = await call("GET", path);
    expect(
      body.map(({ op_type, content }: { op_type: string; content: string }) => [op_type, content]),
    ).toEqual([
      ["auto_merge_pull_request", "1|A roof"],
      ["merge_pull_request", "1|A roof"],
      ["pull_request_ready_for_review", "1|A roof"],
      ["pull_review_dismissed", `1|${reviewer.name}|It is late`],
      ["comment_pull", "1|This line"],
      ["reject_pull_request", "1|"],
      ["approve_pull_request", "1|Well done"],
    ]);
    const page = `https://forge.example/${owner.name}/${repo.name}/pulls/1`;
    expect(body[4]).toMatchObject({
      comment_id: code.id,
      comment: { body: "This line", pull_request_url: page, issue_url: "" },
    });
    const map = await call("GET", `/users/${reviewer.name}/heatmap`);
    expect(
      map.body.reduce(
        (sum: number, each: { contributions: number }) => sum + each.contributions,
        0,
      ),
    ).toBe(3);
  });

  // SECURITY: a pending review is its author's alone, also where an event of it were recorded.
  it("lists nothing of pending reviews and of deleted pull requests", async () => {
    const { owner, repo, path } = await scene();
    const pull = await makePull(repo);
    const { id: issueId, number, isPull } = pull;
    const review = await makeReview(pull, { state: "pending", body: "secret" });
    const comment = await makeCodeComment(pull, review, {}, { body: "secret" });
    const ofReview = { issueId, number, reviewId: review.id, state: "comment" };
    await recordEvent(repo, owner, "review.submitted", ofReview);
    await recordEvent(repo, owner, "comment.created", {
      issueId,
      number,
      isPull,
      commentId: comment.id,
    });
    await recordEvent(repo, owner, "pull.ready", { issueId, number });
    const shown = async () => deedsIn((await call("GET", path, { as: owner })).body);
    expect(await shown()).toEqual(["pull_request_ready_for_review"]);
    await db.update(reviews).set({ state: "comment" }).where(eq(reviews.id, review.id));
    expect(await shown()).toEqual([
      "pull_request_ready_for_review",
      "comment_pull",
      "comment_pull",
    ]);
    await db.delete(issues).where(eq(issues.id, issueId));
    expect(await shown()).toEqual([]);
  });

  // SECURITY: titles and comments belong to the unit of the issues.
  it("lists issues for those who may read the issues, and pull requests likewise", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const [coder, tracker] = [await make.user(), await make.user()];
    await make.member(org, await make.team(org, { units: { code: 1 } }), coder);
    await make.member(org, await make.team(org, { units: { issues: 1 } }), tracker);
    const repo = await make.repo(org, { isPrivate: true });
    const path = `/repos/${org.name}/${repo.name}/activities/feeds`;
    const issue = await makeIssue(repo);
    const pull = await makeIssue(repo, { isPull: true });
    const of = ({ id: issueId, number, isPull }: Issue) => ({ issueId, number, isPull });
    await recordEvent(repo, owner, "repository.pushed", pushOf("refs/heads/main"));
    await recordEvent(repo, owner, "issue.opened", of(issue));
    await recordEvent(repo, owner, "issue.opened", of(pull));
    const shown = async (as: TestUser) => deedsIn((await call("GET", path, { as })).body);
    expect(await shown(owner)).toEqual(["create_pull_request", "create_issue", "commit_repo"]);
    expect(await shown(coder)).toEqual(["commit_repo"]);
    expect(await shown(tracker)).toEqual(["create_issue"]);
    const narrow = await make.token(owner, { scopes: "read:repository" });
    const { body } = await call("GET", path, { token: narrow });
    expect(deedsIn(body)).toEqual(["commit_repo"]);
    await db.update(repositories).set({ hasIssues: false }).where(eq(repositories.id, repo.id));
    expect(await shown(tracker)).toEqual([]);
    expect(await shown(owner)).toContain("create_issue");
  });

  it("lists the commits of a real push", async () => {
    const { owner, path } = await scene();
    const made = { name: "pushed", auto_init: true };
    const { body: repo } = await call("POST", "/user/repos", { as: owner, json: made });
    const feed = path.replace(/[^/]+(?=\/activities)/, "pushed");
    const { body } = await call("GET", feed);
    expect(deedsIn(body)).toEqual(["commit_repo", "create_repo"]);
    expect(body[0]).toMatchObject({ repo_id: repo.id, ref_name: "refs/heads/main" });
    const first = JSON.parse(body[0].content);
    expect(first).toMatchObject({ CompareURL: "", Len: 1 });
    expect(first.Commits).toEqual([first.HeadCommit]);
    expect(first.HeadCommit).toMatchObject({ Message: expect.stringContaining("commit") });

    const file = { content: "YQ==", message: "Say a" };
    const at = `/repos/${repo.full_name}/contents/a`;
    const { body: changed } = await call("POST", at, { as: owner, json: file });
    const again = JSON.parse((await call("GET", feed)).body[0].content);
    expect(again).toMatchObject({
      Len: 1,
      HeadCommit: { Sha1: changed.commit.sha, Message: expect.stringContaining("Say a") },
      CompareURL: `${repo.full_name}/compare/${first.HeadCommit.Sha1}...${changed.commit.sha}`,
    });
  });

  it("lists the latest commits of a push, and counts the new ones", async () => {
    const { owner, repo, path } = await scene();
    const history = new History();
    const oids: string[] = [];
    for (let count = 0; count < 7; count++) {
      const message = count === 6 ? "x".repeat(5000) : `Change ${count}\n`;
      oids.push(history.commit({ message, parents: oids.slice(-1), files: { a: `${count}` } }));
    }
    const tip = oids.at(-1) ?? "";
    expect((await push(owner, repo, tip, history.build())).status).toBe(200);
    const empty = makeEmptyPack();
    expect((await push(owner, repo, tip, empty, "refs/heads/copy")).status).toBe(200);

    const { body } = await call("GET", path);
    const [copied, pushed] = body.map(({ content }: { content: string }) => JSON.parse(content));
    expect(copied).toMatchObject({ Commits: [], HeadCommit: { Sha1: tip }, Len: 0 });
    const named = pushed.Commits.map(({ Sha1 }: { Sha1: string }) => Sha1);
    expect([pushed.Len, named.length, named[0]]).toEqual([7, 5, tip]);
    expect(pushed.HeadCommit.Message).toBe("x".repeat(1000));
  });

  it("has pages and a total, also for a single push", async () => {
    const { owner, repo, path } = await scene();
    await recordEvent(repo, owner);
    const refs = Array.from({ length: 5 }, (_, at) => `refs/heads/b${at}`);
    await recordEvent(repo, owner, "repository.pushed", pushOf(...refs));
    await recordEvent(repo, owner);
    const { pages, ids, totals } = await readAll(path, {}, { limit: 3 });
    expect(totals).toEqual([7]);
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
    expect(new Set(ids).size).toBe(7);
    expect((await call("GET", `${path}?page=9`)).body).toEqual([]);
  });

  // The cost of a page grows with its depth: a feed shows recent activities, not an archive.
  it("is limited to the latest thousand entries", async () => {
    const { owner, repo, path } = await scene();
    const refs = Array.from({ length: 50 }, (_, at) => `refs/heads/b${at}`);
    for (let count = 0; count < 21; count++) {
      await recordEvent(repo, owner, "repository.pushed", pushOf(...refs));
    }
    const last = await call("GET", `${path}?limit=50&page=20`);
    expect([last.body.length, last.headers.get("X-Total-Count")]).toEqual([50, "1000"]);
    expect((await call("GET", `${path}?limit=50&page=21`)).body).toEqual([]);
    expect((await call("GET", `${path}?limit=40&page=25`)).body).toHaveLength(40);
    expect((await call("GET", `${path}?limit=30&page=34`)).body).toHaveLength(10);
  });

  it("lists a single day", async () => {
    const { owner, repo, path } = await scene();
    const day = Date.parse("2026-01-31T00:00:00Z");
    for (const at of [day - 1, day, day + 86_399_999, day + 86_400_000]) {
      await recordEvent(repo, owner, "repository.created", {}, at);
    }
    const { body, headers } = await call("GET", `${path}?date=2026-01-31`);
    expect(body.map(({ created }: { created: string }) => created)).toEqual([
      "2026-01-31T23:59:59Z",
      "2026-01-31T00:00:00Z",
    ]);
    expect(headers.get("X-Total-Count")).toBe("2");
    for (const date of ["2026-02-30", "x", "20260131", "\u0000", "9".repeat(500)]) {
      const answer = await call("GET", `${path}?date=${encodeURIComponent(date)}`);
      expect([answer.status, answer.body.message], date).toEqual([
        422,
        "[date]: must be a day, such as 2026-01-31",
      ]);
    }
  });

  it("is hidden from callers who may not see the repository, and omits hidden users", async () => {
    const { owner, repo, path } = await scene({ isPrivate: true });
    const friend = await make.user({ isActivityHidden: true });
    await make.collaborator(repo, friend, 2);
    await recordEvent(repo, friend);
    expect(await call("GET", path)).toMatchObject({ status: 404, body: "" });
    expect((await call("GET", path, { as: owner })).body).toEqual([]);
    expect((await call("GET", path, { as: friend })).body).toMatchObject([{ is_private: true }]);
    expect((await call("GET", path, { as: await make.admin() })).body).toHaveLength(1);
  });

  it("omits pushes where the code unit is disabled", async () => {
    const { owner, repo, path } = await scene({ hasCode: false });
    await recordEvent(repo, owner, "repository.pushed", pushOf("refs/heads/main"));
    expect((await call("GET", path)).body).toEqual([]);
  });
});
