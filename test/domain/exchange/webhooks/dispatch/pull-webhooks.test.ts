import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  hookDeliveries,
  issueAssignees,
  issues,
  pulls,
  repositories,
  reviews,
  webhookEvents,
} from "../../../../../src/db/schema/index.ts";
import { dispatchEvents } from "../../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { parseHookEvents } from "../../../../../src/domain/exchange/webhooks/hooks/hook-events.ts";
import { recordEvent } from "../../../../support/activities.ts";
import { call } from "../../../../support/call.ts";
import { db } from "../../../../support/db.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { makeComment, makeIssue, makeLabel, makeMilestone } from "../../../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../../../support/make.ts";
import { oidOf } from "../../../../support/payload-contexts.ts";
import { makeCodeComment, makePull, makeReview, type TestPull } from "../../../../support/pulls.ts";
import { systemCtx } from "../../../../support/system.ts";

/** Later than any event that the queue dispatches by itself. */
const LATE = Date.UTC(2100, 0, 1);

async function dispatch(): Promise<void> {
  const queue = { sendBatch: () => Promise.resolve() } as unknown as Env["DELIVERY_JOBS"];
  await dispatchEvents(systemCtx({ DELIVERY_JOBS: queue }, LATE));
}

interface Scene {
  owner: TestUser;
  repo: TestRepo;
  pull: TestPull;
}

async function makeScene(names: string[] = ["pull_request"], fields = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const pull = await makePull(repo, fields, { body: "In every room" });
  const hook = await makeHook({
    level: "repository",
    approverId: owner.id,
    repoId: repo.id,
    events: parseHookEvents(names),
  });
  return { owner, repo, pull, hook };
}

/** Records a change of the pull request, due for dispatch. */
function change({ repo, owner, pull }: Scene, type: string, fields: object = {}) {
  const { id: issueId, number, isPull } = pull;
  const shared = type.startsWith("issue.") || type.startsWith("comment.");
  const payload = { issueId, number, ...(shared && { isPull }), ...fields };
  return recordEvent(repo, owner, type, payload, LATE, LATE);
}

type Sent = Record<string, unknown>;

const sentOf = async (repo: { id: number }): Promise<Sent[]> => {
  const rows = await db
    .select()
    .from(webhookEvents)
    .where(eq(webhookEvents.repoId, repo.id))
    .orderBy(webhookEvents.id);
  return rows.map(({ event, payload }) => Object.assign<Sent, object>({ event }, payload));
};

const MOVED = { before: oidOf(1), after: oidOf(2), isForced: true, commitCount: 1 };

/** Records one change of each kind that hooks receive. */
async function changeAll(scene: Scene) {
  const { owner, repo, pull } = scene;
  const label = await makeLabel({ repo });
  const milestone = await makeMilestone(repo);
  const comment = await makeComment(pull, { body: "Same here" });
  const states = ["approved", "request_changes", "comment"] as const;
  await change(scene, "issue.opened");
  await change(scene, "issue.edited", { from: { title: "a" } });
  await change(scene, "issue.assigned", { userId: owner.id });
  await change(scene, "issue.unassigned", { userId: owner.id });
  await change(scene, "issue.labeled", { added: [label.id], removed: [] });
  await change(scene, "issue.labels_cleared");
  await change(scene, "issue.milestoned", { milestoneId: milestone.id });
  await change(scene, "issue.demilestoned", { milestoneId: milestone.id });
  await change(scene, "comment.created", { commentId: comment.id });
  await change(scene, "pull.synchronized", MOVED);
  await change(scene, "pull.retargeted", { from: "old", to: "main" });
  await change(scene, "pull.review_requested", { userId: owner.id, teamId: null });
  await change(scene, "pull.review_request_removed", { userId: owner.id, teamId: null });
  for (const state of states) {
    const review = await makeReview(pull, { state, body: `It is ${state}` });
    await change(scene, "review.submitted", { reviewId: review.id, state });
  }
  await change(scene, "issue.closed", { commitOid: oidOf(7) });
  await change(scene, "issue.reopened", { commitOid: "" });
  await change(scene, "pull.ready");
  await change(scene, "review.dismissed", { reviewId: 1 });
  await change(scene, "pull.merged", {
    mergeCommitOid: oidOf(3),
    mergeKind: "merge",
    isAutomatic: false,
  });
  return { label };
}

const GROUP = [
  ["pull_request", "opened"],
  ["pull_request", "edited"],
  ["pull_request_assign", "assigned"],
  ["pull_request_assign", "unassigned"],
  ["pull_request_label", "label_updated"],
  ["pull_request_label", "label_cleared"],
  ["pull_request_milestone", "milestoned"],
  ["pull_request_milestone", "demilestoned"],
  ["pull_request_comment", "created"],
  ["pull_request_sync", "synchronized"],
  ["pull_request", "edited"],
  ["pull_request_review_request", "review_requested"],
  ["pull_request_review_request", "review_request_removed"],
  ["pull_request_review_approved", "reviewed"],
  ["pull_request_review_rejected", "reviewed"],
  ["pull_request_review_comment", "reviewed"],
  ["pull_request", "closed"],
  ["pull_request", "reopened"],
  ["pull_request", "closed"],
] as const;

describe("changes of pull requests", () => {
  it("reach hooks of the group, each as its own event, with the current state", async () => {
    const scene = await makeScene();
    const { owner, repo, pull } = scene;
    const { id: issueId, repoId } = pull;
    await db.insert(issueAssignees).values({ issueId, repoId, userId: owner.id, createdAt: 1000 });
    const { label } = await changeAll(scene);
    await dispatch();

    const sent = await sentOf(repo);
    expect(sent.map(({ event, action }) => [event, action])).toEqual(GROUP);
    const at = (event: string, action: string) =>
      sent.filter((each) => each["event"] === event && each["action"] === action);
    for (const each of sent) {
      expect(each).toMatchObject({
        pull_request: {
          id: pull.id,
          number: pull.number,
          body: "In every room",
          assignee: { login: owner.name, email: `${owner.lowerName}@noreply.localhost` },
          base: { ref: "main", repo: { id: repo.id } },
          head: { ref: "topic", repo: { id: repo.id } },
        },
        repository: { id: repo.id },
        sender: { login: owner.name },
      });
    }
    expect(at("pull_request", "closed").map((each) => each["commit_id"])).toEqual([oidOf(7), ""]);
    expect(at("pull_request_label", "label_updated")).toMatchObject([
      { changes: { added_labels: [{ id: label.id }], removed_labels: [] } },
    ]);
    expect(at("pull_request", "edited")).toMatchObject([
      { changes: { title: { from: "a" }, added_labels: null } },
      { changes: { ref: { from: "old" }, added_labels: null } },
    ]);
    expect(at("pull_request_comment", "created")).toMatchObject([
      { is_pull: true, issue: { id: pull.id }, comment: { body: "Same here" } },
    ]);
    expect(at("pull_request_review_request", "review_requested")).toMatchObject([
      { requested_reviewer: { login: owner.name }, review: null },
    ]);
    for (const [kind, state] of [
      ["approved", "approved"],
      ["rejected", "request_changes"],
      ["comment", "comment"],
    ] as const) {
      const type = `pull_request_review_${kind}`;
      expect(at(type, "reviewed")).toMatchObject([
        {
          requested_reviewer: { login: owner.name },
          review: { type, content: `It is ${state}` },
          commit_id: "",
        },
      ]);
    }
  });

  it.each([
    [["pull_request_only"], ["pull_request"]],
    [["pull_request_sync"], ["pull_request_sync"]],
    [["pull_request_comment"], ["pull_request_comment"]],
    [["pull_request_assign"], ["pull_request_assign"]],
    [["pull_request_label"], ["pull_request_label"]],
    [["pull_request_milestone"], ["pull_request_milestone"]],
    [["pull_request_review_request"], ["pull_request_review_request"]],
    [
      ["pull_request_review"],
      [
        "pull_request_review_approved",
        "pull_request_review_rejected",
        "pull_request_review_comment",
      ],
    ],
    [["issues", "push"], []],
  ])("reach a hook of %j as %j", async (names, received) => {
    const scene = await makeScene(names);
    await changeAll(scene);
    await dispatch();
    const rows = await db
      .select()
      .from(hookDeliveries)
      .where(eq(hookDeliveries.hookId, scene.hook.id))
      .orderBy(hookDeliveries.id);
    expect([...new Set(rows.map(({ event }) => event))]).toEqual(received);
  });

  it("name the team of which a review is asked", async () => {
    const scene = await makeScene();
    const team = await make.team(await make.org([scene.owner]));
    await change(scene, "pull.review_requested", { userId: null, teamId: team.id });
    await dispatch();
    expect(await sentOf(scene.repo)).toMatchObject([
      { requested_reviewer: null, requested_team: { name: team.name } },
    ]);
  });

  it("have the merger and the commit of a merged pull request", async () => {
    const scene = await makeScene();
    const { owner, pull } = scene;
    const merged = { mergedAt: 1000, mergerId: owner.id, mergeCommitOid: oidOf(3) };
    await db.update(pulls).set(merged).where(eq(pulls.issueId, pull.id));
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, pull.id));
    await change(scene, "pull.merged", {
      mergeCommitOid: oidOf(3),
      mergeKind: "squash",
      isAutomatic: true,
    });
    await dispatch();
    expect(await sentOf(scene.repo)).toMatchObject([
      {
        action: "closed",
        commit_id: "",
        pull_request: {
          state: "closed",
          merged: true,
          merge_commit_sha: oidOf(3),
          merged_by: { login: owner.name },
        },
      },
    ]);
  });

  // SECURITY: a pending review is its author's alone, and so is whatever is said of its comments.
  it("reveal nothing of a pending review or its comments", async () => {
    const scene = await makeScene();
    const review = await makeReview(scene.pull, { state: "pending", body: "secret" });
    const comment = await makeCodeComment(scene.pull, review, {}, { body: "secret" });
    await change(scene, "review.submitted", { reviewId: review.id, state: "comment" });
    await change(scene, "comment.created", { commentId: comment.id });
    await change(scene, "comment.edited", { commentId: comment.id, from: "a" });
    await dispatch();
    expect(await sentOf(scene.repo)).toEqual([]);

    await db.update(reviews).set({ state: "comment" }).where(eq(reviews.id, review.id));
    await change(scene, "comment.edited", { commentId: comment.id, from: "a" });
    await dispatch();
    expect(await sentOf(scene.repo)).toMatchObject([{ comment: { body: "secret" } }]);
  });

  it("are not sent of what was deleted since, or belongs to another pull request", async () => {
    const scene = await makeScene();
    const other = await makePull(scene.repo);
    const comment = await makeComment(other);
    const review = await makeReview(other);
    const issue = await makeIssue(scene.repo);
    await change(scene, "comment.created", { commentId: comment.id });
    await change(scene, "review.submitted", { reviewId: review.id, state: "approved" });
    await change(scene, "review.submitted", { reviewId: 999_999_999, state: "approved" });
    await change(scene, "pull.synchronized", { ...MOVED, issueId: 999_999_999 });
    await change(scene, "pull.synchronized", { ...MOVED, issueId: issue.id });
    await dispatch();
    expect(await sentOf(scene.repo)).toEqual([]);
  });

  // SECURITY: the receivers of a hook of the base are strangers to a private fork.
  it("show the repository of a head only if everybody may see it", async () => {
    const stranger = await make.user();
    const fork = await make.repo(stranger, { isPrivate: true, visibility: "private" });
    const scene = await makeScene(["pull_request"], { headRepoId: fork.id });
    await change(scene, "issue.opened");
    await dispatch();
    const { visibility } = await make.repo(await make.user());
    await db
      .update(repositories)
      .set({ isPrivate: false, visibility })
      .where(eq(repositories.id, fork.id));
    await change(scene, "issue.opened");
    await dispatch();
    expect(await sentOf(scene.repo)).toMatchObject([
      { pull_request: { head: { repo_id: fork.id, repo: null } } },
      { pull_request: { head: { repo_id: fork.id, repo: { name: fork.name } } } },
    ]);
    const [first] = await sentOf(scene.repo);
    expect(JSON.stringify(first)).not.toContain(fork.name);
  });

  // SECURITY: administrators who switch pull requests off hide them from their receivers, too.
  it("are not sent while pull requests are switched off", async () => {
    const scene = await makeScene();
    await change(scene, "issue.opened");
    await change(scene, "pull.synchronized", MOVED);
    await db
      .update(repositories)
      .set({ hasPullRequests: false })
      .where(eq(repositories.id, scene.repo.id));
    await dispatch();
    expect(await sentOf(scene.repo)).toEqual([]);
  });
});

describe("the API's changes of a pull request", () => {
  it("reach a hook in their order, deletions with what was deleted", async () => {
    const { owner, repo, pull } = await makeScene();
    const path = `/repos/${repo.owner}/${repo.name}/issues`;
    const send = async (method: "POST" | "PATCH" | "DELETE", rest: string, json?: object) => {
      const answer = await call(method, path + rest, { as: owner, ...(json && { json }) });
      expect(answer.status, `${method} ${rest}`).toBeLessThan(300);
      await dispatch();
      return answer.body;
    };
    await send("PATCH", `/${pull.number}`, { title: "It pours" });
    const comment = await send("POST", `/${pull.number}/comments`, { body: "Same here" });
    await send("PATCH", `/comments/${comment.id}`, { body: "Not here" });
    await send("PATCH", `/${pull.number}`, { state: "closed" });
    await send("DELETE", `/comments/${comment.id}`);
    await send("DELETE", `/${pull.number}`);

    const sent = await sentOf(repo);
    expect(sent.map(({ event, action }) => [event, action])).toEqual([
      ["pull_request", "edited"],
      ["pull_request_comment", "created"],
      ["pull_request_comment", "edited"],
      ["pull_request", "closed"],
      ["pull_request_comment", "deleted"],
      ["pull_request", "deleted"],
    ]);
    expect(sent.at(-1)).toMatchObject({
      commit_id: "",
      requested_reviewer: null,
      review: null,
      pull_request: { title: "It pours", head: { ref: "topic" }, state: "closed" },
    });
    expect(sent.at(-2)).toMatchObject({
      is_pull: true,
      comment: { body: "Not here" },
      pull_request: { number: pull.number },
    });
    const rows = await db.select().from(events).where(eq(events.repoId, repo.id));
    expect(rows.filter(({ type }) => type.endsWith(".deleted"))).toHaveLength(2);
    for (const { payload } of rows) expect(payload).not.toHaveProperty("lastPayload");
  });

  // SECURITY: also where its author edits or deletes a part of it.
  it("reach no hook while they are part of a pending review", async () => {
    const { owner, repo, pull } = await makeScene();
    const review = await makeReview(pull, { state: "pending" });
    const comment = await makeCodeComment(pull, review, {}, { body: "secret" });
    const path = `/repos/${repo.owner}/${repo.name}/issues/comments/${comment.id}`;
    const edited = await call("PATCH", path, { as: owner, json: { body: "secret, too" } });
    expect(edited).toMatchObject({ status: 200, body: { body: "secret, too" } });
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    await dispatch();
    expect(await sentOf(repo)).toEqual([]);
    const rows = await db.select().from(events).where(eq(events.repoId, repo.id));
    expect(JSON.stringify(rows)).not.toContain("secret");
  });
});
