import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  accessTokens,
  branchProtections,
  mergeQueueEntries,
  mergeQueues,
  type ProtectionSettings,
  scheduledMerges,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { make, type TestUser } from "../../support/make.ts";
import {
  enqueueAll,
  findResult,
  makeQueuedRepo,
  quietly,
  type QueuedRepo,
  report,
  rowOf,
  timelineOf,
} from "../../support/merge-queues.ts";
import { makeRuleset } from "../../support/protections.ts";
import { makeEmptyPack, pushCommands, refsOf } from "../../support/push.ts";
import { drawConsequences } from "../../support/consequences.ts";

const pathOf = ({ own, pulls }: QueuedRepo, at = 0): string => `${own}/pulls/${pulls[at]?.number}`;

const entriesOf = ({ pulls: [first] }: QueuedRepo) =>
  db
    .select()
    .from(mergeQueueEntries)
    .where(eq(mergeQueueEntries.issueId, first?.id ?? 0));

/** The events about pull requests of a repository. */
const recordedOf = async ({ repo }: QueuedRepo) =>
  (await eventsOf(repo)).filter(({ type }) => type.startsWith("pull."));

/** What a refused request must not have written. */
async function expectNothing(queued: QueuedRepo): Promise<void> {
  expect(await entriesOf(queued)).toEqual([]);
  expect(await db.select().from(mergeQueues).where(eq(mergeQueues.repoId, queued.repo.id))).toEqual(
    [],
  );
  expect(await recordedOf(queued)).toEqual([]);
  const [first] = queued.pulls;
  expect(first && (await timelineOf(first))).toEqual([]);
}

async function makeWriter({ own, owner }: QueuedRepo, permission = "write"): Promise<TestUser> {
  const user = await make.user();
  const path = `${own}/collaborators/${user.name}`;
  const { status } = await quietly("PUT", path, { as: owner, json: { permission } });
  expect(status).toBe(204);
  return user;
}

const changeRule = ({ repo }: QueuedRepo, settings: Partial<ProtectionSettings>) =>
  db
    .select()
    .from(branchProtections)
    .where(eq(branchProtections.repoId, repo.id))
    .then(([rule]) =>
      db
        .update(branchProtections)
        .set({ settings: { ...(rule?.settings as ProtectionSettings), ...settings } })
        .where(eq(branchProtections.id, rule?.id ?? 0)),
    );

describe("POST /repos/{owner}/{repo}/pulls/{index}/queue", () => {
  it("puts a pull request at the end of the queue, and announces it", async () => {
    const queued = await makeQueuedRepo(2);
    const { owner } = queued;
    const json = { Do: "squash", MergeTitleField: "One", delete_branch_after_merge: true };
    expect(await quietly("POST", `${pathOf(queued)}/queue`, { as: owner, json })).toMatchObject({
      status: 201,
      body: { number: 1, branch: "main", position: 1, state: "waiting", style: "squash" },
    });
    expect(
      await quietly("POST", `${pathOf(queued, 1)}/queue`, { as: owner, json: {} }),
    ).toMatchObject({
      status: 201,
      body: { number: 2, position: 2, style: "merge", enqueued_by: { login: owner.name } },
    });
    expect(await entriesOf(queued)).toMatchObject([
      { style: "squash", title: "One", isBranchDeleted: true, doerId: owner.id },
    ]);
    expect(await recordedOf(queued)).toMatchObject([
      { type: "pull.enqueued", payload: { number: 1, branch: "main" } },
      { type: "pull.enqueued", payload: { number: 2, branch: "main" } },
    ]);
    const again = await quietly("POST", `${pathOf(queued)}/queue`, { as: owner, json });
    expect(again).toMatchObject({ status: 409, body: { message: /in the merge queue already/ } });
    expect(await recordedOf(queued)).toHaveLength(2);
  });

  it("ends a scheduled merge", async () => {
    const queued = await makeQueuedRepo(1);
    const { owner, pulls: all } = queued;
    const json = { Do: "merge", merge_when_checks_succeed: true };
    expect((await quietly("POST", `${pathOf(queued)}/merge`, { as: owner, json })).status).toBe(
      201,
    );
    const scheduled = () =>
      db
        .select()
        .from(scheduledMerges)
        .where(eq(scheduledMerges.issueId, all[0]?.id ?? 0));
    expect(await scheduled()).toHaveLength(1);
    await enqueueAll(queued);
    expect(await scheduled()).toEqual([]);
  });

  it.each<[string, object, number, Partial<ProtectionSettings>]>([
    ["another head than the caller's", { head_commit_id: "1".repeat(40) }, 409, {}],
    ["another style than the queue's", { Do: "rebase" }, 405, { mergeQueueStyle: "squash" }],
    ["a missing approval", { Do: "merge" }, 405, { requiredApprovals: 1 }],
    ["a base without a queue", { Do: "merge" }, 405, { isMergeQueueEnabled: false }],
    ["an unknown style", { Do: "octopus" }, 422, {}],
    ["a long title", { Do: "merge", MergeTitleField: "x".repeat(5000) }, 422, {}],
  ])("refuses %s, and writes nothing", async (_what, json, status, settings) => {
    const queued = await makeQueuedRepo(1, settings);
    const answer = await quietly("POST", `${pathOf(queued)}/queue`, { as: queued.owner, json });
    expect(answer.status).toBe(status);
    await expectNothing(queued);
  });

  it("takes the queue's style where the caller names none", async () => {
    const queued = await makeQueuedRepo(1, { mergeQueueStyle: "rebase" });
    await enqueueAll(queued, {});
    expect(await entriesOf(queued)).toMatchObject([{ style: "rebase" }]);
  });

  it("asks for no checks of the head, nor that it is up to date", async () => {
    const queued = await makeQueuedRepo(1, { blockOnOutdatedBranch: true });
    await report(queued, queued.pulls[0]?.pull.headOid ?? "", "failure");
    await enqueueAll(queued);
    expect(await entriesOf(queued)).toHaveLength(1);
  });

  it("refuses readers, strangers and anonymous callers, and writes nothing", async () => {
    const queued = await makeQueuedRepo(1);
    const reader = await makeWriter(queued, "read");
    const path = `${pathOf(queued)}/queue`;
    const json = { Do: "merge" };
    for (const as of [reader, await make.user()]) {
      expect((await quietly("POST", path, { as, json })).status).toBe(405);
    }
    expect((await quietly("POST", path, { json })).status).toBe(401);
    await expectNothing(queued);
  });

  it("refuses those who are not on the list of those who merge", async () => {
    const queued = await makeQueuedRepo(1);
    const merge = { isRestricted: true, userIds: [], teamIds: [], deployKeys: false };
    await changeRule(queued, { merge });
    const answer = await quietly("POST", `${pathOf(queued)}/queue`, { as: queued.owner, json: {} });
    expect(answer.status).toBe(405);
    await expectNothing(queued);
  });

  // SECURITY: the queue merges with the rights of the account, so a bound token would reach beyond
  // its bindings.
  it("refuses tokens that are bound to other refs, or to paths", async () => {
    const queued = await makeQueuedRepo(1);
    const bind = (fields: Partial<typeof accessTokens.$inferInsert>) =>
      db.update(accessTokens).set(fields).where(eq(accessTokens.userId, queued.owner.id));
    const enqueue = () =>
      quietly("POST", `${pathOf(queued)}/queue`, { as: queued.owner, json: { Do: "merge" } });
    await bind({ boundRefs: ["refs/heads/topic"] });
    expect((await enqueue()).status).toBe(403);
    await bind({ boundRefs: null, boundPaths: ["docs/**"] });
    expect((await enqueue()).status).toBe(403);
    await expectNothing(queued);
    await bind({ boundRefs: ["refs/heads/main"], boundPaths: null });
    expect((await enqueue()).status).toBe(201);
  });

  it("refuses drafts, closed pull requests, issues, and what does not exist", async () => {
    const queued = await makeQueuedRepo(2);
    const { own, owner: as } = queued;
    const enqueue = (index: number) =>
      quietly("POST", `${own}/pulls/${index}/queue`, { as, json: { Do: "merge" } });
    await quietly("PATCH", `${own}/pulls/1`, { as, json: { title: "WIP: x" } });
    await quietly("PATCH", `${own}/pulls/2`, { as, json: { state: "closed" } });
    const issue = await quietly("POST", `${own}/issues`, { as, json: { title: "x" } });
    expect((await enqueue(1)).status).toBe(405);
    expect((await enqueue(2)).status).toBe(404);
    expect((await enqueue(issue.body.number)).status).toBe(404);
    expect((await enqueue(99)).status).toBe(404);
    expect(await entriesOf(queued)).toEqual([]);
    await quietly("PATCH", own, { as, json: { archived: true } });
    expect((await enqueue(1)).status).toBe(423);
  });
});

describe("POST /repos/{owner}/{repo}/pulls/{index}/merge into a base with a queue", () => {
  it("puts the pull request into the queue", async () => {
    const queued = await makeQueuedRepo(1);
    const json = { Do: "squash", MergeTitleField: "One" };
    const answer = await quietly("POST", `${pathOf(queued)}/merge`, { as: queued.owner, json });
    expect(answer.status).toBe(201);
    expect(await entriesOf(queued)).toMatchObject([{ style: "squash", title: "One" }]);
  });

  it("merges by force for administrators, but not where the rule blocks that", async () => {
    const queued = await makeQueuedRepo(2);
    const writer = await makeWriter(queued);
    const json = { Do: "merge", force_merge: true };
    const force = (as: TestUser, at = 0) =>
      quietly("POST", `${pathOf(queued, at)}/merge`, { as, json });
    expect((await force(writer)).status).toBe(201);
    expect((await force(queued.owner, 1)).status).toBe(200);
    const [, second] = queued.pulls;
    expect(second && (await rowOf(second)).mergedAt).not.toBeNull();
    const blocked = await makeQueuedRepo(1, { blockAdminMergeOverride: true });
    const answer = await quietly("POST", `${pathOf(blocked)}/merge`, { as: blocked.owner, json });
    expect(answer.status).toBe(201);
    expect(await entriesOf(blocked)).toHaveLength(1);
  });
});

describe("DELETE /repos/{owner}/{repo}/pulls/{index}/queue", () => {
  it("takes a pull request out, for who queued it and for administrators", async () => {
    const queued = await makeQueuedRepo(1);
    const [writer, other] = [await makeWriter(queued), await makeWriter(queued)];
    const leave = (as?: TestUser) => quietly("DELETE", `${pathOf(queued)}/queue`, as ? { as } : {});
    expect((await leave(writer)).status).toBe(404);
    await enqueueAll({ ...queued, owner: writer });
    expect((await leave()).status).toBe(401);
    for (const as of [other, await make.user()]) expect((await leave(as)).status).toBe(403);
    expect(await entriesOf(queued)).toHaveLength(1);
    expect((await leave(writer)).status).toBe(204);
    expect(await entriesOf(queued)).toEqual([]);
    await enqueueAll({ ...queued, owner: writer });
    expect((await leave(queued.owner)).status).toBe(204);
    expect((await recordedOf(queued)).map(({ type }) => type)).toEqual([
      "pull.enqueued",
      "pull.dequeued",
      "pull.enqueued",
      "pull.dequeued",
    ]);
  });

  it("refuses one that is just being merged, and writes nothing", async () => {
    const queued = await makeQueuedRepo(1);
    await enqueueAll(queued);
    await db
      .update(mergeQueues)
      .set({ state: "landing", batchSize: 1, resultOid: queued.rootOid })
      .where(eq(mergeQueues.repoId, queued.repo.id));
    const [entry] = await entriesOf(queued);
    await db
      .update(mergeQueueEntries)
      .set({ isInBatch: true })
      .where(eq(mergeQueueEntries.id, entry?.id ?? 0));
    const before = await recordedOf(queued);
    const answer = await quietly("DELETE", `${pathOf(queued)}/queue`, { as: queued.owner });
    expect(answer).toMatchObject({
      status: 409,
      body: { message: "the pull request is being merged" },
    });
    expect(await entriesOf(queued)).toHaveLength(1);
    expect(await recordedOf(queued)).toEqual(before);
  });
});

describe("the state of merge queues", () => {
  it("is listed by branch, page by page, and shows a page of the pull requests", async () => {
    const queued = await makeQueuedRepo(3);
    const { own, owner: as, repo } = queued;
    await enqueueAll(queued);
    await db
      .insert(mergeQueues)
      .values({ repoId: repo.id, branch: "a/b", createdAt: 1, dueAt: 8e15 });
    const first = await quietly("GET", `${own}/merge-queues?limit=1`, { as });
    expect(first.body).toEqual([{ branch: "a/b", state: "idle", length: 0, batch: null }]);
    expect(first.headers.get("X-Total-Count")).toBe("2");
    const second = await quietly("GET", `${own}/merge-queues?limit=1&page=2`, { as });
    expect(second.body).toMatchObject([{ branch: "main", length: 3 }]);
    const page = await quietly("GET", `${own}/merge-queues/main?limit=2&page=2`, { as });
    expect(page).toMatchObject({
      status: 200,
      body: { branch: "main", length: 3, entries: [{ number: 3, position: 3 }] },
    });
    expect(page.headers.get("X-Total-Count")).toBe("3");
    const slashes = await quietly("GET", `${own}/merge-queues/a/b`, { as });
    expect(slashes.body).toMatchObject({ branch: "a/b", entries: [] });
    const place = await quietly("GET", `${pathOf(queued, 1)}/queue`, { as });
    expect(place.body).toMatchObject({ number: 2, position: 2, state: "waiting" });
  });

  it("is idle for a branch whose queue is empty, and not found for one without a queue", async () => {
    const queued = await makeQueuedRepo(1);
    const { own, owner: as } = queued;
    const empty = { branch: "main", state: "idle", length: 0, batch: null, entries: [] };
    expect((await quietly("GET", `${own}/merge-queues/main`, { as })).body).toEqual(empty);
    expect((await quietly("GET", `${own}/merge-queues/other`, { as })).status).toBe(404);
    expect((await quietly("GET", `${pathOf(queued)}/queue`, { as })).status).toBe(404);
  });

  it("is shown to those who see the pull requests only", async () => {
    const queued = await makeQueuedRepo(1);
    const { own, owner } = queued;
    await enqueueAll(queued);
    const paths = [`${own}/merge-queues`, `${own}/merge-queues/main`, `${pathOf(queued)}/queue`];
    for (const path of paths) expect((await call("GET", path)).status).toBe(200);
    await quietly("PATCH", own, { as: owner, json: { private: true } });
    const stranger = await make.user();
    for (const path of paths) {
      expect((await call("GET", path, { as: stranger })).status).toBe(404);
      expect((await call("GET", path, { as: owner })).status).toBe(200);
    }
  });
});

describe("the branches of merge queues", () => {
  it("are written by the service only, in each way", async () => {
    const queued = await makeQueuedRepo(1);
    const { own, owner: as, repo, rootOid } = queued;
    const refused = "belongs to a merge queue";
    // The service has the commits already, so that a client sends an empty pack.
    const moving = { pack: makeEmptyPack() };
    for (const name of ["queue", "queue/main", "queue/main/mine"]) {
      const command = { ref: `refs/heads/${name}`, new: rootOid };
      const pushed = await pushCommands(as, repo, [command], moving);
      expect(pushed.body).toContain(refused);
      const json = { new_branch_name: name, old_ref_name: "topic-0" };
      const made = await quietly("POST", `${own}/branches`, { as, json });
      expect(made).toMatchObject({ status: 403 });
      expect(made.body.message).toContain(refused);
    }
    await enqueueAll(queued);
    await drawConsequences();
    const result = await findResult(queued);
    const ref = `refs/heads/${result?.branch}`;
    const old = result?.oid ?? "";
    const moved = await pushCommands(as, repo, [{ ref, old, new: rootOid }], moving);
    expect(moved.body).toContain(refused);
    expect((await pushCommands(as, repo, [{ ref, old }])).body).toContain(refused);
    const branch = `${own}/branches/${result?.branch}`;
    expect((await quietly("DELETE", branch, { as })).status).toBe(403);
    const before = (await refsOf(repo)).find(({ name }) => name === ref);
    expect(before?.oid).toBe(result?.oid);
    // Other branches of the folder are free.
    const json = { new_branch_name: "queue/other", old_ref_name: "topic-0" };
    expect((await quietly("POST", `${own}/branches`, { as, json })).status).toBe(201);
  });
});

describe("rules with a merge queue", () => {
  it("have its fields, also those of organizations, and refuse numbers out of range", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const path = `/repos/${repo.owner}/${repo.name}/branch_protections`;
    const fields = {
      enable_merge_queue: true,
      merge_queue_style: "squash",
      merge_queue_batch_size: 20,
      merge_queue_wait_minutes: 1440,
    };
    const json = { rule_name: "main", ...fields };
    expect((await call("POST", path, { as: owner, json })).body).toMatchObject(fields);
    const changes = { merge_queue_batch_size: 1 };
    expect((await call("PATCH", `${path}/main`, { as: owner, json: changes })).body).toMatchObject({
      ...fields,
      ...changes,
    });
    for (const wrong of [
      { merge_queue_batch_size: 0 },
      { merge_queue_batch_size: 21 },
      { merge_queue_wait_minutes: 0 },
      { merge_queue_wait_minutes: 1441 },
      { merge_queue_style: "manually-merged" },
    ]) {
      const answer = await call("PATCH", `${path}/main`, { as: owner, json: wrong });
      expect(answer.status).toBe(422);
    }
    expect((await call("GET", `${path}/main`, { as: owner })).body).toMatchObject(changes);
    const plain = await call("POST", path, { as: owner, json: { rule_name: "next" } });
    expect(plain.body).toMatchObject({
      enable_merge_queue: false,
      merge_queue_style: "",
      merge_queue_batch_size: 5,
      merge_queue_wait_minutes: 60,
    });
    const org = await make.org([owner]);
    const ruleset = await call("POST", `/orgs/${org.name}/rulesets`, { as: owner, json });
    expect(ruleset.body).toMatchObject(fields);
  });

  it("queue the pull requests of an organization's repositories, the smaller number applies", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    await makeRuleset(org, { settings: { isMergeQueueEnabled: true, mergeQueueBatchSize: 2 } });
    const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/merge-queues/main`, {
      as: owner,
    });
    expect(body).toMatchObject({ branch: "main", state: "idle" });
  });
});
