import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  ACCESS,
  issues,
  pulls,
  repositories,
  reviews,
  type Issue,
  type Pull,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { entriesOf, eventsOf, issueStateOf } from "../../support/issue-state.ts";
import { makeIssue, makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { makePull, makeReview } from "../../support/pulls.ts";
import { makeSampleTopic, storeSampleCode } from "../../support/samples/sample-code.ts";

const pathOf = ({ owner, name }: Pick<TestRepo, "owner" | "name">, rest = "") =>
  `/repos/${owner}/${name}${rest}`;

/**
 * A repository with a pull request of `topic` into `main` by a stranger; a writer; and a branch
 * `some/branch`.
 */
async function makeOpened(fields: Partial<Pull> = {}, issueFields: Partial<Issue> = {}) {
  const [owner, writer, poster, reader] = [
    await make.user(),
    await make.user(),
    await make.user(),
    await make.user(),
  ];
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, ACCESS.write);
  const code = await storeSampleCode(repo);
  const topic = makeSampleTopic(repo, code.oid);
  const common = { posterId: poster.id, ...issueFields };
  const pull = await makePull(
    repo,
    { headOid: topic.oid, checkedBaseOid: code.oid, ...fields },
    common,
  );
  await topic.store("refs/heads/topic", `refs/pull/${pull.number}/head`);
  const patch = (json: object, as: { token: string } | undefined = owner) =>
    call("PATCH", pathOf(repo, `/pulls/${pull.number}`), { ...(as && { as }), json });
  const rowOf = async () =>
    (await db.select().from(pulls).where(eq(pulls.issueId, pull.id)))[0] as Pull;
  return { owner, writer, poster, reader, repo, code, topic, pull, patch, rowOf };
}

/** The kinds of the events of a repository but the pushes that made it. */
const recordedOf = async (repo: TestRepo) =>
  (await eventsOf(repo)).filter((kind) => kind !== "repository.pushed");

/** What a request about a pull request changes: a refused one leaves it as it is. */
const stateOf = async (repo: TestRepo) => [
  await issueStateOf(repo),
  await db.select().from(pulls).where(eq(pulls.repoId, repo.id)),
  await db.select().from(reviews).where(eq(reviews.repoId, repo.id)),
];

describe("PATCH /repos/{owner}/{repo}/pulls/{index}", () => {
  it("changes everything at once for a writer", async () => {
    const { writer, repo, pull, patch } = await makeOpened();
    const [label, milestone] = [await makeLabel({ repo }), await makeMilestone(repo)];
    const { status, body } = await patch(
      {
        title: "new",
        body: "text",
        assignees: [writer.name],
        labels: [label.id],
        milestone: milestone.id,
        due_date: "2030-02-03T04:05:06Z",
        state: "closed",
      },
      writer,
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({
      title: "new",
      body: "text",
      assignees: [{ login: writer.name }],
      labels: [{ id: label.id }],
      milestone: { id: milestone.id },
      due_date: "2030-02-03T23:59:59Z",
      state: "closed",
      base: { repo: { open_pr_counter: 0 } },
    });
    const { body: found } = await call("GET", pathOf(repo, `/pulls/${pull.number}`));
    expect(found).toMatchObject({ title: "new", state: "closed" });
    expect(await recordedOf(repo)).toEqual([
      "issue.edited",
      "issue.assigned",
      "issue.milestoned",
      "issue.deadline_changed",
      "issue.labeled",
      "issue.closed",
    ]);
    // 0 does not take the milestone off, as in Gitea; an empty list clears labels.
    const cleared = await patch({ milestone: 0, labels: [], unset_due_date: true, state: "open" });
    expect(cleared.body).toMatchObject({
      milestone: { id: milestone.id },
      labels: [],
      due_date: null,
      state: "open",
      closed_at: null,
    });
  });

  it("lets the poster change text and state, and nothing else", async () => {
    const { poster, repo, patch } = await makeOpened();
    const label = await makeLabel({ repo });
    const json = { title: "mine", state: "closed", labels: [label.id], assignees: [poster.name] };
    expect(await patch(json, poster)).toMatchObject({
      status: 201,
      body: { title: "mine", state: "closed", labels: [], assignees: [] },
    });
  });

  it("announces that it is no draft any more, by either route", async () => {
    const { owner, repo, pull, patch } = await makeOpened({}, { title: "WIP: it" });
    expect((await patch({ title: "it" })).body).toMatchObject({ draft: false, mergeable: true });
    expect((await patch({ title: "it again" })).body.draft).toBe(false);
    expect((await patch({ title: "[wip] it" })).body).toMatchObject({
      draft: true,
      mergeable: false,
    });
    const path = pathOf(repo, `/issues/${pull.number}`);
    const { body } = await call("PATCH", path, { as: owner, json: { title: "done" } });
    expect(body.pull_request).toMatchObject({ draft: false });
    const recorded = (await recordedOf(repo)).filter((type) => type === "pull.ready");
    expect(recorded).toEqual(["pull.ready", "pull.ready"]);
  });

  it("gives it another base, checks it again, and drops its approvals", async () => {
    const { owner, repo, pull, topic, code, patch, rowOf } = await makeOpened();
    const [review, rejection] = [
      await makeReview(pull),
      await makeReview(pull, { state: "request_changes", reviewerId: owner.id }),
    ];
    const { status, body } = await patch({ base: "settings" });
    expect(status).toBe(201);
    expect(body.base).toMatchObject({ label: "settings", ref: "settings" });
    expect(await rowOf()).toMatchObject({
      baseBranch: "settings",
      checkedHeadOid: topic.oid,
      checkedBaseOid: body.base.sha,
      // The histories have nothing in common.
      mergeBaseOid: "",
      mergeState: "mergeable",
    });
    expect(body.base.sha).not.toBe(code.oid);
    expect(
      await db.select().from(reviews).where(eq(reviews.issueId, pull.id)).orderBy(reviews.id),
    ).toMatchObject([
      { id: review.id, isDismissed: true },
      { id: rejection.id, isDismissed: false },
    ]);
    const entries = await entriesOf(pull.id);
    expect(entries.slice(-3)).toMatchObject([
      { kind: "dismiss_review" },
      { kind: "change_target_branch", oldValue: "main", newValue: "settings" },
      { kind: "pull_push" },
    ]);
    expect(await recordedOf(repo)).toEqual(["review.dismissed", "pull.retargeted"]);
    // The same edit again has no event.
    expect((await patch({ base: "refs/heads/settings" })).status).toBe(201);
    expect(await recordedOf(repo)).toHaveLength(2);
    // To its own head there is nothing to merge.
    expect((await patch({ base: "topic" })).body).toMatchObject({ base: { label: "topic" } });
    expect(await rowOf()).toMatchObject({ mergeState: "ancestor" });
  });

  it.each([
    ["a base that is no branch", { base: "nothere" }, 404],
    ["a base that is a tag", { base: "some/tag" }, 404],
    ["an unknown state", { state: "x" }, 412],
    ["an unknown milestone", { milestone: 99_999_999 }, 422],
    ["an unknown assignee", { assignees: ["nobody-at-all"] }, 422],
    ["another version", { body: "x", content_version: 5 }, 400],
    ["edits by maintainers, from others than the poster", { allow_maintainer_edit: true }, 403],
  ])("refuses %s, with everything else", async (_, json, refusal) => {
    const { repo, patch } = await makeOpened();
    const before = await stateOf(repo);
    const answer = await patch({ title: "not this", state: "closed", ...json });
    expect(answer.status).toBe(refusal);
    expect(await stateOf(repo)).toEqual(before);
  });

  it("refuses a base to which the branches have an open one already", async () => {
    const { repo, pull, patch } = await makeOpened();
    const other = await makePull(repo, { baseBranch: "some/branch", headOid: pull.pull.headOid });
    const before = await stateOf(repo);
    const { status, body } = await patch({ base: "some/branch" });
    expect([status, body.message]).toEqual([
      409,
      `pull request already exists for these targets [id: ${other.id}, issue_id: ${other.id}, ` +
        `head_repo_id: ${repo.id}, base_repo_id: ${repo.id}, head_branch: topic, ` +
        "base_branch: some/branch]",
    ]);
    expect(await stateOf(repo)).toEqual(before);
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, other.id));
    expect((await patch({ base: "some/branch" })).status).toBe(201);
  });

  it("refuses another base of a closed one", async () => {
    const { repo, pull, patch } = await makeOpened({}, { isClosed: true });
    const { status, body } = await patch({ base: "some/branch" });
    expect([status, body.message]).toEqual([
      422,
      `Pull Request [id: ${pull.id}, repo_id: ${repo.id}, index: 1] is already closed`,
    ]);
  });

  it("keeps the state and the base of a merged one, by either route", async () => {
    const { owner, repo, pull, patch } = await makeOpened(
      { mergedAt: 1000, mergeCommitOid: "3".repeat(40) },
      { isClosed: true },
    );
    const before = await stateOf(repo);
    for (const state of ["open", "closed"]) {
      const { status, body } = await patch({ state });
      expect([status, body.message]).toEqual([
        412,
        "cannot change state of this pull request, it was already merged",
      ]);
      const path = pathOf(repo, `/issues/${pull.number}`);
      expect((await call("PATCH", path, { as: owner, json: { state } })).status).toBe(412);
    }
    for (const state of ["", "merged"]) {
      const { status, body } = await patch({ state, title: "x", base: "some/branch" });
      expect([status, body.message]).toEqual([412, `unknown state: ${state}`]);
    }
    expect((await patch({ base: "some/branch" })).body.base.label).toBe("main");
    expect(await stateOf(repo)).toEqual(before);
    expect((await patch({ title: "after" })).body).toMatchObject({ title: "after", merged: true });
  });

  it("lets the poster open the head to maintainers where the poster may push", async () => {
    const { owner, poster, repo, pull, patch, rowOf } = await makeOpened();
    expect((await patch({ allow_maintainer_edit: true }, poster)).status).toBe(403);
    await db.update(issues).set({ posterId: owner.id }).where(eq(issues.id, pull.id));
    expect((await patch({ allow_maintainer_edit: true })).body.allow_maintainer_edit).toBe(true);
    expect(await rowOf()).toMatchObject({ allowMaintainerEdit: true });
    expect((await patch({ allow_maintainer_edit: false })).body.allow_maintainer_edit).toBe(false);
    expect(await db.select().from(repositories).where(eq(repositories.id, repo.id))).toHaveLength(
      1,
    );
  });

  it("refuses strangers, anonymous callers, and issues", async () => {
    const { owner, reader, repo, patch } = await makeOpened();
    const issue = await makeIssue(repo);
    const before = await stateOf(repo);
    expect((await patch({ title: "x" }, reader)).status).toBe(403);
    expect((await call("PATCH", pathOf(repo, "/pulls/1"), { json: { title: "x" } })).status).toBe(
      401,
    );
    for (const number of [issue.number, 99, 0]) {
      const path = pathOf(repo, `/pulls/${number}`);
      expect((await call("PATCH", path, { as: owner, json: { title: "x" } })).status).toBe(404);
    }
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    expect((await patch({ title: "x" })).status).toBe(423);
    await db
      .update(repositories)
      .set({ archivedAt: null, hasPullRequests: false })
      .where(eq(repositories.id, repo.id));
    expect((await patch({ title: "x" }, reader)).status).toBe(404);
    await db
      .update(repositories)
      .set({ hasPullRequests: true })
      .where(eq(repositories.id, repo.id));
    expect(await stateOf(repo)).toEqual(before);
  });
});

describe("a pull request as an issue", () => {
  it("shows its merge, and counts as a pull request", async () => {
    const { owner, repo, pull } = await makeOpened({ mergedAt: 5000 }, { isClosed: true });
    await makePull(repo, { headBranch: "draft" }, { title: "[WIP] it" });
    await makeIssue(repo);
    const { body } = await call("GET", pathOf(repo, `/issues/${pull.number}`));
    expect(body.pull_request).toMatchObject({
      merged: true,
      merged_at: "1970-01-01T00:00:05Z",
      draft: false,
    });
    const listed = async (query: string) => {
      const answer = await call("GET", pathOf(repo, `/issues?${query}`), { as: owner });
      expect(answer.status).toBe(200);
      return answer.body.map(({ number }: { number: number }) => number);
    };
    expect(await listed("type=pulls")).toEqual([2]);
    expect(await listed("type=pulls&state=all")).toEqual([2, 1]);
    expect(await listed("type=issues")).toEqual([3]);
    expect(await listed("q=is:merged")).toEqual([1]);
    expect(await listed("q=is:draft")).toEqual([2]);
    expect(await listed("q=-is:draft&state=all")).toEqual([1]);
    expect(await listed("q=head:draft")).toEqual([2]);
    expect(await listed("q=base:main+head:topic&state=closed")).toEqual([1]);
    expect(await listed("q=base:nothere&state=all")).toEqual([]);
    const { body: shown } = await call("GET", pathOf(repo));
    expect(shown).toMatchObject({ open_pr_counter: 1, open_issues_count: 1 });
  });

  it("closes, is pinned, locked, and waits for others as an issue does", async () => {
    const { owner, repo, pull, patch } = await makeOpened();
    const blocker = await makeIssue(repo);
    const at = (rest: string) => pathOf(repo, `/issues/${pull.number}${rest}`);
    await call("POST", at("/dependencies"), {
      as: owner,
      json: { owner: repo.owner, repo: repo.name, index: blocker.number },
    });
    expect((await patch({ state: "closed" })).status).toBe(412);
    await call("PATCH", pathOf(repo, `/issues/${blocker.number}`), {
      as: owner,
      json: { state: "closed" },
    });
    expect((await call("POST", at("/pin"), { as: owner })).status).toBe(204);
    expect((await call("PUT", at("/lock"), { as: owner, json: {} })).status).toBe(204);
    const closed = await call("PATCH", at(""), { as: owner, json: { state: "closed" } });
    expect(closed).toMatchObject({ status: 201, body: { state: "closed" } });
    const [row] = await db.select().from(pulls).where(eq(pulls.issueId, pull.id));
    expect(row?.isClosed).toBe(true);
    expect((await call("GET", pathOf(repo, `/pulls/${pull.number}`))).body).toMatchObject({
      state: "closed",
      pin_order: 1,
      is_locked: true,
    });
  });
});

describe("searches", () => {
  it("find what a user is asked to review, and what a user reviewed", async () => {
    const { owner, reader, repo, pull, poster } = await makeOpened();
    const isSecret = { isPrivate: true, visibility: "private" } as const;
    const hidden = await makePull(await make.repo(poster, isSecret));
    const other = await makePull(repo, { headBranch: "other" });
    await makePull(repo, { headBranch: "unasked" });
    const org = await make.org([owner]);
    const team = await make.team(org);
    await make.member(org, team, reader);
    const ofOrg = await makePull(await make.repo(org));
    await makeReview(pull, { state: "request_review", reviewerId: reader.id });
    await makeReview(hidden, { state: "request_review", reviewerId: reader.id });
    await makeReview(ofOrg, { state: "request_review", reviewerId: null, teamId: team.id });
    await makeReview(other, { state: "request_review", reviewerId: reader.id });
    await makeReview(other, { state: "approved", reviewerId: reader.id });
    await makeReview(other, { state: "comment", reviewerId: reader.id });
    await makeReview(pull, { state: "pending", reviewerId: reader.id });
    const found = async (path: string) => {
      const { status, body } = await call("GET", path, { as: reader });
      expect(status).toBe(200);
      return body.map(({ id }: { id: number }) => id);
    };
    const search = "/repos/issues/search?type=pulls";
    expect(await found(`${search}&review_requested=true`)).toEqual([ofOrg.id, pull.id]);
    expect(await found(`${search}&reviewed=true`)).toEqual([other.id]);
    expect(await found(`${search}&reviewed=true&state=closed`)).toEqual([]);
    const list = pathOf(repo, "/issues?q=");
    expect(await found(`${list}review-requested:@me`)).toEqual([pull.id]);
    expect(await found(`${list}reviewed-by:${reader.name}`)).toEqual([other.id]);
    expect(await found(`${list}review-requested:${owner.name}`)).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}/commits/{sha}/pull", () => {
  it("finds the one that a commit is the merge of, in its repository", async () => {
    const mergeCommitOid = "4".repeat(40);
    const { owner, repo, pull } = await makeOpened(
      { mergedAt: 1, mergeCommitOid },
      { isClosed: true },
    );
    const other = await make.repo(owner);
    const find = (of: TestRepo, sha: string) => call("GET", pathOf(of, `/commits/${sha}/pull`));
    expect(await find(repo, mergeCommitOid)).toMatchObject({
      status: 200,
      body: { number: pull.number, merged: true, merge_commit_sha: mergeCommitOid },
    });
    expect((await find(repo, "5".repeat(40))).status).toBe(404);
    expect((await find(repo, pull.pull.headOid)).status).toBe(404);
    expect((await find(other, mergeCommitOid)).status).toBe(404);
    const isThis = and(eq(pulls.issueId, pull.id), eq(pulls.mergeCommitOid, mergeCommitOid));
    expect(await db.select().from(pulls).where(isThis)).toHaveLength(1);
  });
});

describe("GET /repos/{owner}/{repo}/pulls", () => {
  it("lists open ones without the counts of their changes, and refuses an unknown poster", async () => {
    const { owner, reader, repo, pull } = await makeOpened();
    await makePull(repo, {}, { isClosed: true });
    const list = (query: string) => call("GET", pathOf(repo, `/pulls${query}`), { as: reader });
    const { body } = await list("");
    expect(body).toMatchObject([{ number: pull.number }]);
    expect(body[0]).not.toHaveProperty("additions");
    expect((await list("?state=anything")).body).toHaveLength(2);
    expect((await list("?labels=bug")).body).toEqual([]);
    expect((await list("?poster=nobody-at-all")).status).toBe(400);
    await db
      .update(repositories)
      .set({ hasPullRequests: false })
      .where(eq(repositories.id, repo.id));
    expect((await list("")).status).toBe(404);
    expect((await call("GET", pathOf(repo, "/pulls"), { as: owner })).status).toBe(200);
  });
});
