import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { mergeQueues, pulls, repositories } from "../../../../../src/db/schema/index.ts";
import { runDueQueues } from "../../../../../src/domain/pulls/merge/queue/run-due-queues.ts";
import { dispatchEvents } from "../../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { parseHookEvents } from "../../../../../src/domain/exchange/webhooks/hooks/hook-events.ts";
import { only } from "../../../../../src/lib/only.ts";
import { History } from "../../../../support/commits.ts";
import { drawConsequences, pushQuietly, silentBindings } from "../../../../support/consequences.ts";
import { db } from "../../../../support/db.ts";
import { clockAt, deliver, openReceiver } from "../../../../support/deliveries.ts";
import { git, readBranch } from "../../../../support/git.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { make } from "../../../../support/make.ts";
import {
  enqueueAll,
  findResult,
  isEmpty,
  makeQueuedRepo,
  quietly,
  type QueuedRepo,
  report,
  rowOf,
  runChecks,
  timelineOf,
} from "../../../../support/merge-queues.ts";
import { makeRule } from "../../../../support/protections.ts";
import type { TestPull } from "../../../../support/pulls.ts";
import { refsOf, storeRefs } from "../../../../support/push.ts";
import { withoutQueueConsumer } from "../../../../support/queue-consumer.ts";
import { systemCtx } from "../../../../support/system.ts";

const QUEUE = {
  isMergeQueueEnabled: true,
  isStatusCheckEnabled: true,
  statusContexts: ["ci"],
};

const pullOf = ({ pulls: all }: QueuedRepo, at: number): TestPull => {
  const found = all[at];
  if (!found) throw new Error(`there is no pull request ${at}`);
  return found;
};

/** Gives the repository a second branch with a queue, and pull requests that base. */
async function addQueue(queued: QueuedRepo, branch: string, moved: readonly TestPull[]) {
  const json = { new_branch_name: branch, old_ref_name: "main" };
  const made = await quietly("POST", `${queued.own}/branches`, { as: queued.owner, json });
  expect(made.status).toBe(201);
  await makeRule(queued.repo, { name: branch, settings: QUEUE });
  for (const { id } of moved) {
    await db.update(pulls).set({ baseBranch: branch }).where(eq(pulls.issueId, id));
  }
}

describe("a merge queue", { timeout: 300_000 }, () => {
  it("is one of several in its repository, none of which waits for another", async () => {
    const queued = await makeQueuedRepo(4);
    const { owner, repo, own } = queued;
    const ofRelease = [pullOf(queued, 1), pullOf(queued, 3)];
    await addQueue(queued, "release", ofRelease);
    await enqueueAll(queued);
    await drawConsequences();
    const { body } = await quietly("GET", `${own}/merge-queues`, { as: owner });
    expect(body).toMatchObject([
      { branch: "main", state: "testing", length: 2 },
      { branch: "release", state: "testing", length: 2 },
    ]);
    const [main, release] = [await findResult(queued), await findResult(queued, "release")];
    await report(queued, release?.oid ?? "", "success");
    await drawConsequences();
    expect((await readBranch(repo.id, "release")).oid).toBe(release?.oid);
    expect(Object.keys((await readBranch(repo.id, "release")).files)).toEqual(["a", "f1", "f3"]);
    // The other one goes on with what it had.
    expect(await findResult(queued)).toEqual(main);
    await report(queued, main?.oid ?? "", "success");
    await drawConsequences();
    expect(Object.keys((await readBranch(repo.id, "main")).files)).toEqual(["a", "f0", "f2"]);
    expect(await isEmpty(queued)).toBe(true);
    for (const pull of queued.pulls) {
      expect(await timelineOf(pull)).toEqual(["pull_enqueued", "merge_pull"]);
    }
  });

  it("merges the head of a fork, but none of a fork that is gone by then", async () => {
    const queued = await makeQueuedRepo(1);
    const { owner, repo, own, rootOid } = queued;
    /** Queues a pull request of a new fork. */
    async function fork(name: string) {
      const author = await make.user();
      const forked = await quietly("POST", `${own}/forks`, { as: author, json: { name } });
      expect(forked.status).toBe(202);
      const history = new History();
      const files = { a: "1\n", [name]: "forked\n" };
      const oid = history.commit({ files, parents: [rootOid], message: `${name}\n` });
      const target = { owner: author.name, name };
      await pushQuietly(author, target, [{ ref: "refs/heads/topic", new: oid }], history.build());
      const json = { title: `Pull ${name}`, head: `${author.name}:topic`, base: "main" };
      const opened = await quietly("POST", `${own}/pulls`, { as: author, json });
      expect(opened.status).toBe(201);
      const path = `${own}/pulls/${opened.body.number}/queue`;
      const answer = await quietly("POST", path, { as: owner, json: { Do: "merge" } });
      expect(answer.status).toBe(201);
      const remove = () => quietly("DELETE", `/repos/${author.name}/${name}`, { as: author });
      return { oid, remove };
    }
    const kept = await fork("kept");
    const gone = await fork("gone");
    expect((await gone.remove()).status).toBe(204);
    // A pull request whose fork is deleted is closed, which takes it out of the queue.
    await runChecks(queued, () => "success");
    const { files } = await readBranch(repo.id, "main");
    expect(Object.keys(files)).toEqual(["a", "kept"]);
    const rows = await db.select().from(pulls).where(eq(pulls.repoId, repo.id));
    const stateOf = (headOid: string) => {
      const row = rows.find((each) => each.headOid === headOid);
      return [row?.mergedAt !== null, row?.isClosed];
    };
    expect(stateOf(kept.oid)).toEqual([true, true]);
    expect(stateOf(gone.oid)).toEqual([false, true]);
    // What the merged one reaches stays when its fork goes, too.
    expect((await kept.remove()).status).toBe(204);
    expect((await quietly("GET", `${own}/git/commits/${kept.oid}`, { as: owner })).status).toBe(
      200,
    );
  });

  it("goes along when its repository is transferred", async () => {
    const queued = await makeQueuedRepo(2);
    const { owner, repo } = queued;
    await enqueueAll(queued);
    await drawConsequences();
    const result = await findResult(queued);
    const org = await make.org([owner]);
    const json = { new_owner: org.name };
    const moved = await quietly("POST", `${queued.own}/transfer`, { as: owner, json });
    expect(moved.status).toBe(202);
    await drawConsequences();
    const [row] = await db.select().from(repositories).where(eq(repositories.id, repo.id));
    expect(row?.ownerId).toBe(org.id);
    const own = `/repos/${org.name}/${repo.name}`;
    const path = `${own}/merge-queues/main`;
    expect((await quietly("GET", path, { as: owner })).body).toMatchObject({
      state: "testing",
      length: 2,
    });
    await report({ ...queued, own }, result?.oid ?? "", "success");
    await drawConsequences();
    expect((await readBranch(repo.id, "main")).oid).toBe(result?.oid);
    expect(await isEmpty(queued)).toBe(true);
  });

  it("takes out what is too large to be merged by its style, and merges the others", async () => {
    const queued = await makeQueuedRepo(2);
    const { repo, rootOid } = queued;
    const history = new History();
    let tip = rootOid;
    // One more than a rebase replays.
    for (let at = 0; at <= 1000; at++) {
      tip = history.commit({ files: { a: "1\n", large: `${at}\n` }, parents: [tip] });
    }
    const large = pullOf(queued, 0);
    const ref = `refs/pull/${large.number}/large`;
    await storeRefs(repo, [{ ref, oid: tip }], history.build());
    const fields = { headBranch: "large", headOid: tip, checkedHeadOid: tip };
    await db.update(pulls).set(fields).where(eq(pulls.issueId, large.id));
    await enqueueAll(queued, { Do: "rebase" });
    await runChecks(queued, () => "success");
    expect(await timelineOf(large)).toEqual(["pull_enqueued", "pull_dequeued too_large"]);
    expect(await timelineOf(pullOf(queued, 1))).toEqual(["pull_enqueued", "merge_pull"]);
    expect(await rowOf(large)).toMatchObject({ isClosed: false, mergedAt: null });
  });

  it("lets all go whose base is deleted, and leaves nothing of them", async () => {
    const queued = await makeQueuedRepo(2);
    const { owner, repo } = queued;
    await addQueue(queued, "release", queued.pulls);
    await enqueueAll(queued);
    await drawConsequences();
    const result = await findResult(queued, "release");
    expect(result).toBeDefined();
    // By a Worker that ends before it records its push, so that the queue learns of it first.
    const { oid = "" } =
      (await refsOf(repo)).find(({ name }) => name === "refs/heads/release") ?? {};
    await git.repository(repo).commitPush({
      id: crypto.randomUUID(),
      actorId: owner.id,
      isConfined: false,
      at: Date.now(),
      rootUrl: "",
      visibility: { visibility: "public", isPrivate: false },
      uploadId: null,
      packs: [],
      updates: [{ ref: "refs/heads/release", oldOid: oid, newOid: null, peeledOid: null }],
      requiredRefs: [],
      isAtomic: true,
      defaultBranch: "main",
    });
    const later = Date.now() + 11 * 60_000;
    const settings = { ROOT_URL: "https://forge.example" };
    await runDueQueues(systemCtx(silentBindings(), later, settings));
    for (const pull of queued.pulls) {
      expect(await timelineOf(pull)).toEqual(["pull_enqueued", "pull_dequeued base_deleted"]);
    }
    expect(await isEmpty(queued)).toBe(true);
    const names = (await refsOf(repo)).map(({ name }) => name);
    expect(names.filter((name) => name.includes("queue"))).toEqual([]);
  });

  it("dispatches webhook events of each entry, from the request to the receiver", async () => {
    const queued = await makeQueuedRepo(1);
    const { owner, repo } = queued;
    const receiver = openReceiver("200");
    const { id: hookId } = await makeHook({
      level: "repository",
      approverId: owner.id,
      repoId: repo.id,
      url: receiver.url,
      events: parseHookEvents(["pull_request"]),
    });
    await enqueueAll(queued);
    await runChecks(queued, () => "failure");
    const sendBatch = () => Promise.resolve();
    const queue = { sendBatch } as unknown as Env["DELIVERY_JOBS"];
    const soon = Date.now() + 60_000;
    await withoutQueueConsumer(async () => {
      await dispatchEvents(systemCtx({ DELIVERY_JOBS: queue }, soon));
      await deliver([hookId], clockAt(soon + 60_000));
    });
    const received = (await receiver.received()).map(
      ({ body }) => JSON.parse(body) as { action: string },
    );
    const shared = {
      number: 1,
      pull_request: { number: 1, state: "open", base: { ref: "main" } },
      repository: { full_name: `${repo.owner}/${repo.name}` },
      sender: { login: owner.name },
    };
    expect(received.filter(({ action }) => action.endsWith("queued"))).toMatchObject([
      { action: "enqueued", ...shared },
      { action: "dequeued", reason: "checks_failed", ...shared },
    ]);
    const isOf = and(eq(mergeQueues.repoId, repo.id), eq(mergeQueues.branch, "main"));
    expect(await db.select().from(mergeQueues).where(isOf)).toEqual([]);
    expect(only(await db.select().from(pulls).where(eq(pulls.repoId, repo.id))).isClosed).toBe(
      false,
    );
  });
});
