import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  hookDeliveries,
  issueAssignees,
  issueLabels,
  repositories,
  webhookEvents,
  type Issue,
} from "../../../../../src/db/schema/index.ts";
import { dispatchEvents } from "../../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { parseHookEvents } from "../../../../../src/domain/exchange/webhooks/hooks/hook-events.ts";
import {
  toCommentPayload,
  toIssuePayload,
} from "../../../../../src/events/webhooks/payloads/issue-payload.ts";
import { recordEvent } from "../../../../support/activities.ts";
import { call } from "../../../../support/call.ts";
import { db } from "../../../../support/db.ts";
import { commentOn, issueIn } from "../../../../support/issue-contexts.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { makeComment, makeIssue, makeLabel, makeMilestone } from "../../../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../../../support/make.ts";
import { makeOccasion, oidOf } from "../../../../support/payload-contexts.ts";
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
  issue: Issue;
}

async function makeScene(names: string[] = ["issues"], fields = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const issue = await makeIssue(repo, { body: "In every room" });
  const hook = await makeHook({
    level: "repository",
    approverId: owner.id,
    repoId: repo.id,
    events: parseHookEvents(names),
  });
  return { owner, repo, issue, hook };
}

/** Records a change of the issue, due for dispatch. */
const change = ({ repo, owner, issue }: Scene, type: string, fields: object = {}) => {
  const { id: issueId, number, isPull } = issue;
  return recordEvent(repo, owner, type, { issueId, number, isPull, ...fields }, LATE, LATE);
};

type Sent = Record<string, unknown>;

const sentOf = async (repo: { id: number }): Promise<Sent[]> => {
  const rows = await db
    .select()
    .from(webhookEvents)
    .where(eq(webhookEvents.repoId, repo.id))
    .orderBy(webhookEvents.id);
  return rows.map(({ event, payload }) => Object.assign<Sent, object>({ event }, payload));
};

describe("changes of issues", () => {
  it("reach hooks of the group, each as its own event, with the current state of the issue", async () => {
    const scene = await makeScene();
    const { owner, repo, issue } = scene;
    const [roof, cellar] = [await makeLabel({ repo }), await makeLabel({ repo })];
    const milestone = await makeMilestone(repo);
    const { id: issueId, repoId, isPull, isClosed } = issue;
    await db.insert(issueLabels).values({ issueId, repoId, isPull, isClosed, labelId: roof.id });
    await db.insert(issueAssignees).values({ issueId, repoId, userId: owner.id, createdAt: 1000 });

    await change(scene, "issue.opened");
    await change(scene, "issue.labeled", { added: [roof.id], removed: [cellar.id] });
    await change(scene, "issue.labels_cleared");
    await change(scene, "issue.assigned", { userId: owner.id });
    await change(scene, "issue.milestoned", { milestoneId: milestone.id });
    await change(scene, "issue.edited", { from: { title: "a", body: "b" } });
    await change(scene, "issue.closed", { commitOid: oidOf(7) });
    await change(scene, "issue.reopened", { commitOid: "" });
    await change(scene, "issue.locked");
    await dispatch();

    const sent = await sentOf(repo);
    expect(sent.map(({ event, action }) => [event, action])).toEqual([
      ["issues", "opened"],
      ["issue_label", "label_updated"],
      ["issue_label", "label_cleared"],
      ["issue_assign", "assigned"],
      ["issue_milestone", "milestoned"],
      ["issues", "edited"],
      ["issues", "closed"],
      ["issues", "reopened"],
    ]);
    for (const each of sent) {
      expect(each).toMatchObject({
        number: issue.number,
        issue: {
          id: issue.id,
          title: issue.title,
          body: "In every room",
          labels: [{ id: roof.id }],
          assignee: { login: owner.name, email: `${owner.lowerName}@noreply.localhost` },
        },
        repository: { id: repo.id },
        sender: { login: owner.name },
      });
    }
    expect(sent.map((each) => each["commit_id"])).toEqual(["", "", "", "", "", "", oidOf(7), ""]);
    expect(sent[1]).toMatchObject({
      changes: { added_labels: [{ id: roof.id }], removed_labels: [{ id: cellar.id }] },
    });
    expect(sent[5]).toMatchObject({
      changes: {
        title: { from: "a" },
        body: { from: "b" },
        added_labels: null,
        removed_labels: null,
      },
    });
    expect(sent[6]).not.toHaveProperty("changes");
  });

  it.each([
    [["issues_only"], ["issues"]],
    [["issue_label"], ["issue_label"]],
    [["issue_comment"], ["issue_comment"]],
    [
      ["issue_assign", "issue_milestone"],
      ["issue_assign", "issue_milestone"],
    ],
    [["ISSUES"], ["issues", "issue_label", "issue_assign", "issue_milestone", "issue_comment"]],
    [["push", "pull_request"], []],
  ])("reach a hook of %j as %j", async (names, received) => {
    const scene = await makeScene(names);
    const comment = await makeComment(scene.issue);
    await change(scene, "issue.opened");
    await change(scene, "issue.labeled", { added: [], removed: [] });
    await change(scene, "issue.unassigned", { userId: 1 });
    await change(scene, "issue.demilestoned", { milestoneId: 1 });
    await change(scene, "comment.created", { commentId: comment.id });
    await dispatch();
    const rows = await db
      .select()
      .from(hookDeliveries)
      .where(eq(hookDeliveries.hookId, scene.hook.id))
      .orderBy(hookDeliveries.id);
    expect(rows.map(({ event }) => event)).toEqual(received);
  });

  it("have comments with their issue, and a deleted account as a ghost", async () => {
    const scene = await makeScene();
    const comment = await makeComment(scene.issue, { body: "Same here", posterId: null });
    await change(scene, "comment.created", { commentId: comment.id });
    await change(scene, "comment.edited", { commentId: comment.id, from: "Not here" });
    await dispatch();
    expect(await sentOf(scene.repo)).toMatchObject([
      {
        event: "issue_comment",
        action: "created",
        is_pull: false,
        issue: { id: scene.issue.id, comments: 1 },
        comment: { id: comment.id, body: "Same here", user: { login: "Ghost" } },
      },
      { action: "edited", changes: { body: { from: "Not here" } } },
    ]);
  });

  it("are not sent of what was deleted since, or belongs to another issue", async () => {
    const scene = await makeScene();
    const other = await makeIssue(scene.repo);
    const comment = await makeComment(other);
    const foreign = await makeIssue(await make.repo(scene.owner));
    await change(scene, "comment.created", { commentId: comment.id });
    await change(scene, "comment.created", { commentId: 999_999_999 });
    await change(scene, "issue.opened", { issueId: 999_999_999 });
    await change(scene, "issue.opened", { issueId: foreign.id });
    await dispatch();
    expect(await sentOf(scene.repo)).toEqual([]);
  });

  it("send the recorded payload of a deletion, and keep it no longer", async () => {
    const scene = await makeScene();
    const context = await makeOccasion();
    const issue = issueIn(context, { body: "secret" });
    const ofIssue = toIssuePayload(context, "deleted", issue);
    const ofComment = toCommentPayload(context, "deleted", issue, commentOn(issue));
    const ids = [
      await change(scene, "issue.deleted", { title: "a title", lastPayload: ofIssue }),
      await change(scene, "comment.deleted", { commentId: 1, lastPayload: ofComment }),
    ];
    const silent = await makeScene(["push"]);
    ids.push(await change(silent, "issue.deleted", { lastPayload: ofIssue }));
    await dispatch();
    expect(await sentOf(scene.repo)).toMatchObject([
      { event: "issues", action: "deleted", issue: { body: "secret" } },
      { event: "issue_comment", action: "deleted", issue: { body: "secret" } },
    ]);
    expect(await sentOf(silent.repo)).toEqual([]);
    for (const id of ids) {
      const [row] = await db.select().from(events).where(eq(events.id, id));
      expect(row?.dispatchAt).toBeNull();
      expect(row?.payload).toMatchObject({ issueId: expect.any(Number) });
      expect(row?.payload).not.toHaveProperty("lastPayload");
    }
  });

  // SECURITY: administrators who switch the issues off hide them from their receivers, too.
  it.each([
    ["disabled", { hasIssues: false }],
    ["elsewhere", { issueSettings: external() }],
  ])("are not sent while issues are %s", async (_, fields) => {
    const scene = await makeScene();
    const recorded = { action: "deleted", issue: { body: "secret" } };
    const comment = await makeComment(scene.issue);
    await change(scene, "issue.opened");
    await change(scene, "comment.created", { commentId: comment.id });
    await change(scene, "issue.deleted", { lastPayload: recorded });
    await db.update(repositories).set(fields).where(eq(repositories.id, scene.repo.id));
    await dispatch();
    expect(await sentOf(scene.repo)).toEqual([]);
  });
});

describe("the API's changes of an issue", () => {
  it("reach a hook in their order, each with what changed", async () => {
    const { owner, repo } = await makeScene();
    const [label, milestone] = [await makeLabel({ repo }), await makeMilestone(repo)];
    const path = `/repos/${repo.owner}/${repo.name}/issues`;
    const send = async (
      method: "POST" | "PATCH" | "PUT" | "DELETE",
      rest: string,
      json?: object,
    ) => {
      const answer = await call(method, path + rest, { as: owner, ...(json && { json }) });
      expect(answer.status, `${method} ${rest}`).toBeLessThan(300);
      await dispatch();
      return answer.body;
    };
    const { number } = await send("POST", "", { title: "It rains", body: "Here" });
    await send("PATCH", `/${number}`, { title: "It pours", body: "Everywhere" });
    await send("POST", `/${number}/labels`, { labels: [label.id] });
    await send("PATCH", `/${number}`, { milestone: milestone.id, assignees: [owner.name] });
    const comment = await send("POST", `/${number}/comments`, { body: "Same here" });
    await send("PATCH", `/comments/${comment.id}`, { body: "Not here" });
    await send("PATCH", `/${number}`, { state: "closed" });
    await send("PATCH", `/${number}`, { state: "open" });
    await send("DELETE", `/comments/${comment.id}`);
    await send("DELETE", `/${number}`);

    const sent = await sentOf(repo);
    const none = { added_labels: null, removed_labels: null };
    const edited = { title: { from: "It rains" }, body: { from: "Here" }, ...none };
    const labeled = {
      added_labels: [expect.objectContaining({ id: label.id })],
      removed_labels: [],
    };
    expect(sent.map(({ event, action, changes }) => [event, action, changes])).toEqual([
      ["issues", "opened", undefined],
      ["issues", "edited", edited],
      ["issue_label", "label_updated", labeled],
      ["issue_assign", "assigned", undefined],
      ["issue_milestone", "milestoned", undefined],
      ["issue_comment", "created", undefined],
      ["issue_comment", "edited", { body: { from: "Same here" } }],
      ["issues", "closed", undefined],
      ["issues", "reopened", undefined],
      ["issue_comment", "deleted", undefined],
      ["issues", "deleted", undefined],
    ]);
    expect(sent.at(-1)).toMatchObject({
      commit_id: "",
      issue: { title: "It pours", labels: [{ id: label.id }], milestone: { id: milestone.id } },
    });
    expect(sent.at(-2)).toMatchObject({ comment: { body: "Not here" } });
  });
});

function external() {
  const tracker = { url: "https://t.example", format: "", style: "numeric", regexpPattern: "" };
  return {
    enableTimeTracker: true,
    allowOnlyContributorsToTrackTime: true,
    enableIssueDependencies: true,
    external: tracker,
  };
}
