import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  branchProtections,
  issues,
  mergeQueueEntries,
  mergeQueues,
  notifications,
  type ProtectionSettings,
  reviews,
} from "../../../../../src/db/schema/index.ts";
import { runDueQueues } from "../../../../../src/domain/pulls/merge/queue/run-due-queues.ts";
import { History } from "../../../../support/commits.ts";
import { drawConsequences, pushQuietly, silentBindings } from "../../../../support/consequences.ts";
import { db } from "../../../../support/db.ts";
import { eventsOf } from "../../../../support/events.ts";
import { readBranch } from "../../../../support/git.ts";
import { make } from "../../../../support/make.ts";
import {
  enqueueAll,
  findResult,
  isEmpty,
  listMerged,
  makeQueuedRepo,
  quietly,
  type QueuedRepo,
  report,
  rowOf,
  runChecks,
  timelineOf,
} from "../../../../support/merge-queues.ts";
import { makeReview } from "../../../../support/pulls.ts";
import { refsOf } from "../../../../support/push.ts";
import { systemCtx } from "../../../../support/system.ts";
import { caseCount } from "../../../../support/sample.ts";

/** A queue with everything in one batch, whose result waits for its check. */
async function makeTesting(count: number, settings: Partial<ProtectionSettings> = {}) {
  const queued = await makeQueuedRepo(count, settings);
  await enqueueAll(queued);
  await drawConsequences();
  const result = await findResult(queued);
  if (!result) throw new Error("there is no result");
  return { queued, result };
}

const changeRule = async ({ repo }: QueuedRepo, changes: Partial<ProtectionSettings>) => {
  const [rule] = await db
    .select()
    .from(branchProtections)
    .where(eq(branchProtections.repoId, repo.id));
  if (!rule) throw new Error("there is no rule");
  await db
    .update(branchProtections)
    .set({ settings: { ...rule.settings, ...changes } })
    .where(eq(branchProtections.id, rule.id));
};

/** The schedule at a time, in milliseconds from now. */
const runScheduleIn = (ms: number): Promise<void> =>
  runDueQueues(systemCtx(silentBindings(), Date.now() + ms, { ROOT_URL: "https://forge.example" }));

const nameOf = async ({ repo }: QueuedRepo): Promise<string[]> =>
  (await refsOf(repo)).map(({ name }) => name);

const MINUTES = 60_000;

describe("a merge queue", { timeout: 300_000 }, () => {
  it("tests pull requests together, and merges the tested commit", async () => {
    const { queued, result } = await makeTesting(3);
    const { own, owner, repo, rootOid } = queued;
    const { files } = await readBranch(repo.id, result.branch);
    expect(Object.keys(files)).toEqual(["a", "f0", "f1", "f2"]);
    const shown = await quietly("GET", `${own}/merge-queues/main`, { as: owner });
    expect(shown.body).toMatchObject({
      state: "testing",
      length: 3,
      batch: { size: 3, base_sha: rootOid, commit_sha: result.oid },
      entries: [{ position: 1 }, { position: 2 }, { position: 3, result_sha: result.oid }],
    });
    await report(queued, result.oid, "success", "other");
    await drawConsequences();
    expect((await readBranch(repo.id, "main")).oid).toBe(rootOid);
    await report(queued, result.oid, "success");
    await drawConsequences();
    expect((await readBranch(repo.id, "main")).oid).toBe(result.oid);
    expect(await isEmpty(queued)).toBe(true);
    expect((await nameOf(queued)).filter((name) => name.includes("queue"))).toEqual([]);
    expect(await listMerged(queued)).toEqual([0, 1, 2]);
    let before = rootOid;
    for (const pull of queued.pulls) {
      expect(await timelineOf(pull)).toEqual(["pull_enqueued", "merge_pull"]);
      const row = await rowOf(pull);
      expect(row).toMatchObject({
        mergerId: owner.id,
        mergeKind: "merge",
        isClosed: true,
        mergedBaseOid: before,
      });
      before = row.mergeCommitOid;
    }
    expect(before).toBe(result.oid);
  });

  it("takes in a scheduled merge once the checks of the head succeed", async () => {
    const queued = await makeQueuedRepo(1);
    const json = { Do: "merge", merge_when_checks_succeed: true };
    await quietly("POST", `${queued.own}/pulls/1/merge`, { as: queued.owner, json });
    await drawConsequences();
    expect(await isEmpty(queued)).toBe(true);
    await report(queued, queued.pulls[0]?.pull.headOid ?? "", "success");
    await drawConsequences();
    const result = await findResult(queued);
    expect(result).toBeDefined();
    await report(queued, result?.oid ?? "", "success");
    await drawConsequences();
    const [first] = queued.pulls;
    expect(first && (await rowOf(first)).mergedAt).not.toBeNull();
  });

  const COUNT = caseCount(10, 20);

  it(`merges ${COUNT - 1} of ${COUNT} pull requests in order where one is bad`, async () => {
    const bad = Math.floor(COUNT * 0.3);
    const queued = await makeQueuedRepo(COUNT, { mergeQueueBatchSize: 8 });
    await enqueueAll(queued);
    const checked = await runChecks(queued, (files) =>
      `f${bad}` in files ? "failure" : "success",
    );
    expect(checked).toBeLessThan(COUNT);
    const all = Array.from({ length: COUNT }, (_, at) => at);
    expect(await listMerged(queued)).toEqual(all.filter((at) => at !== bad));
    const { files } = await readBranch(queued.repo.id, "main");
    expect(Object.keys(files)).toHaveLength(COUNT);
    const pull = queued.pulls[bad];
    expect(pull && (await timelineOf(pull))).toEqual([
      "pull_enqueued",
      "pull_dequeued checks_failed",
    ]);
    expect(pull && (await rowOf(pull)).mergedAt).toBeNull();
  });

  it("uses the results of a failed batch again", async () => {
    const { queued, result } = await makeTesting(4);
    await report(queued, result.oid, "failure");
    await drawConsequences();
    const half = await findResult(queued);
    expect(Object.keys((await readBranch(queued.repo.id, half?.branch ?? "")).files)).toEqual([
      "a",
      "f0",
      "f1",
    ]);
    // The first half is a part of the history of the whole.
    const rows = await db.select().from(mergeQueueEntries);
    const [, second] = rows.filter(({ issueId }) => queued.pulls.some(({ id }) => id === issueId));
    expect(half?.oid).toBe(second?.resultOid);
    // The third succeeds, so that the fourth is the cause: its result is the commit that failed.
    expect(await runChecks(queued, () => "success")).toBe(2);
    expect(await listMerged(queued)).toEqual([0, 1, 2]);
    const [, , , last] = queued.pulls;
    expect(last && (await timelineOf(last)).at(-1)).toBe("pull_dequeued checks_failed");
  });

  it("takes a pull request out whose checks are not reported in time", async () => {
    const { queued } = await makeTesting(1, { mergeQueueWaitMinutes: 30 });
    await runScheduleIn(29 * MINUTES);
    expect(await isEmpty(queued)).toBe(false);
    await runScheduleIn(31 * MINUTES);
    expect(await isEmpty(queued)).toBe(true);
    const [pull] = queued.pulls;
    expect(pull && (await timelineOf(pull))).toEqual([
      "pull_enqueued",
      "pull_dequeued checks_timed_out",
    ]);
    expect((await readBranch(queued.repo.id, "main")).oid).toBe(queued.rootOid);
  });

  it("merges at once where no checks are required, without a branch", async () => {
    const queued = await makeQueuedRepo(2, { isStatusCheckEnabled: false });
    await enqueueAll(queued, { Do: "squash" });
    await drawConsequences();
    expect(await isEmpty(queued)).toBe(true);
    for (const pull of queued.pulls) {
      expect(await rowOf(pull)).toMatchObject({ mergeKind: "squash", isClosed: true });
    }
    const pushed = (await eventsOf(queued.repo)).filter(({ type }) => type === "repository.pushed");
    expect(JSON.stringify(pushed)).not.toContain("refs/heads/queue/");
  });

  it.each(["rebase", "rebase-merge", "squash"])("merges by %s what it tested", async (style) => {
    const queued = await makeQueuedRepo(2);
    await enqueueAll(queued, { Do: style });
    await drawConsequences();
    const result = await findResult(queued);
    await report(queued, result?.oid ?? "", "success");
    await drawConsequences();
    expect((await readBranch(queued.repo.id, "main")).oid).toBe(result?.oid);
    for (const pull of queued.pulls) expect((await rowOf(pull)).mergeKind).toBe(style);
  });

  it("builds again on a base that somebody else moved", async () => {
    const { queued, result } = await makeTesting(2);
    await changeRule(queued, { isPushEnabled: true });
    const history = new History();
    const oid = history.commit({ files: { a: "1\n", other: "x\n" }, parents: [queued.rootOid] });
    await pushQuietly(
      queued.owner,
      queued.repo,
      [{ ref: "refs/heads/main", old: queued.rootOid, new: oid }],
      history.build(),
    );
    await drawConsequences();
    const rebuilt = await findResult(queued);
    expect(rebuilt?.oid).not.toBe(result.oid);
    // What was tested is not what would land.
    await report(queued, result.oid, "success");
    await drawConsequences();
    expect((await readBranch(queued.repo.id, "main")).oid).toBe(oid);
    await report(queued, rebuilt?.oid ?? "", "success");
    await drawConsequences();
    const { files } = await readBranch(queued.repo.id, "main");
    expect(Object.keys(files)).toEqual(["a", "f0", "f1", "other"]);
  });

  it("leaves one that conflicts with an earlier one to a later batch, and then takes it out", async () => {
    const queued = await makeQueuedRepo(3, {}, (at) =>
      at === 2 ? { f2: "2\n" } : { same: `${at}\n` },
    );
    await enqueueAll(queued);
    expect(await runChecks(queued, () => "success")).toBe(2);
    expect(await listMerged(queued)).toEqual([0, 2]);
    const [, second] = queued.pulls;
    expect(second && (await timelineOf(second))).toEqual([
      "pull_enqueued",
      "pull_dequeued conflict",
    ]);
  });

  it("deletes the branches of merged heads if requested", async () => {
    const queued = await makeQueuedRepo(3, { isStatusCheckEnabled: false });
    await enqueueAll(queued, { Do: "merge", delete_branch_after_merge: true });
    await drawConsequences();
    expect((await nameOf(queued)).filter((name) => name.startsWith("refs/heads/"))).toEqual([
      "refs/heads/main",
    ]);
    expect(await isEmpty(queued)).toBe(true);
  });

  it("notifies the watchers of a pull request that it takes out", async () => {
    const { queued, result } = await makeTesting(1);
    const [pull] = queued.pulls;
    const bot = await make.user();
    const as = { as: queued.owner };
    await quietly("PUT", `${queued.own}/collaborators/${bot.name}`, {
      ...as,
      json: { permission: "write" },
    });
    const notified = () =>
      db
        .select()
        .from(notifications)
        .where(
          and(eq(notifications.userId, queued.owner.id), eq(notifications.issueId, pull?.id ?? 0)),
        );
    await quietly("POST", `${queued.own}/statuses/${result.oid}`, {
      as: bot,
      json: { state: "error", context: "ci" },
    });
    await drawConsequences();
    expect(await isEmpty(queued)).toBe(true);
    expect(await notified()).toHaveLength(1);
    const events = await eventsOf(queued.repo);
    expect(events.filter(({ type }) => type === "pull.dequeued")).toMatchObject([
      { actorId: bot.id, payload: { branch: "main", reason: "checks_failed", number: 1 } },
    ]);
  });
});

describe(
  "a pull request leaves its queue, and the others are tested without it,",
  {
    timeout: 300_000,
  },
  () => {
    /** Changes the first of three in a batch that is tested, and returns the reason why it left. */
    async function leave(
      change: (queued: QueuedRepo, result: { branch: string; oid: string }) => Promise<unknown>,
      settings: Partial<ProtectionSettings> = {},
    ): Promise<string | undefined> {
      const { queued, result } = await makeTesting(3, settings);
      await change(queued, result);
      await drawConsequences();
      const next = await findResult(queued);
      expect(next?.oid).not.toBe(result.oid);
      const { files } = await readBranch(queued.repo.id, next?.branch ?? "");
      expect(Object.keys(files)).toEqual(expect.arrayContaining(["a", "f1", "f2"]));
      await report(queued, next?.oid ?? "", "success");
      await drawConsequences();
      expect(await isEmpty(queued)).toBe(true);
      expect(await listMerged(queued)).toEqual(expect.arrayContaining([1, 2]));
      const [first] = queued.pulls;
      const timeline = first ? await timelineOf(first) : [];
      return timeline
        .find((each) => each.startsWith("pull_dequeued"))
        ?.slice("pull_dequeued ".length);
    }

    const pathOf = ({ own, pulls: [first] }: QueuedRepo): string => `${own}/pulls/${first?.number}`;

    it("if it is taken out", async () => {
      const reason = await leave(async (queued) => {
        const answer = await quietly("DELETE", `${pathOf(queued)}/queue`, { as: queued.owner });
        expect(answer.status).toBe(204);
      });
      expect(reason).toBe("left");
    });

    it("if commits are pushed to its head", async () => {
      const reason = await leave(async ({ owner, repo, pulls: [first] }) => {
        const history = new History();
        const old = first?.pull.headOid ?? "";
        const oid = history.commit({ files: { a: "1\n", f0: "new\n" }, parents: [old] });
        const ref = "refs/heads/topic-0";
        await pushQuietly(owner, repo, [{ ref, old, new: oid }], history.build());
      });
      expect(reason).toBe("head_changed");
    });

    it.each([
      ["closed", { state: "closed" }],
      ["draft", { title: "WIP: Pull 0" }],
      ["retargeted", { base: "other" }],
    ])("if it is changed: %s", async (expected, json) => {
      const reason = await leave(async (queued) => {
        const as = queued.owner;
        await quietly("POST", `${queued.own}/branches`, {
          as,
          json: { new_branch_name: "other", old_ref_name: "main" },
        });
        const answer = await quietly("PATCH", pathOf(queued), { as, json });
        expect(answer.status).toBe(201);
      });
      expect(reason).toBe(expected);
    });

    it("if it is merged by force", async () => {
      const reason = await leave(async (queued) => {
        // In the second of the queue's own merge, which was drawn a second ahead, it would be the
        // same commit, on which the others are built.
        await new Promise((resolve) => setTimeout(resolve, 2100));
        const json = { Do: "merge", force_merge: true };
        const answer = await quietly("POST", `${pathOf(queued)}/merge`, { as: queued.owner, json });
        expect(answer.status).toBe(200);
      });
      expect(reason).toBe("merged");
    });

    it("if it loses an approval before it lands", async () => {
      const { queued, result } = await (async () => {
        const made = await makeQueuedRepo(2, { requiredApprovals: 1 });
        for (const pull of made.pulls) await makeReview(pull, { isOfficial: true });
        await enqueueAll(made);
        await drawConsequences();
        return { queued: made, result: await findResult(made) };
      })();
      const [first] = queued.pulls;
      await changeReviews(first?.id ?? 0);
      await report(queued, result?.oid ?? "", "success");
      await drawConsequences();
      expect(first && (await timelineOf(first))).toEqual([
        "pull_enqueued",
        "pull_dequeued refused: Does not have enough approvals",
      ]);
      expect((await readBranch(queued.repo.id, "main")).oid).toBe(queued.rootOid);
      await runChecks(queued, () => "success");
      expect(await listMerged(queued)).toEqual([1]);
    });

    it("if who queued it may not merge any more", async () => {
      const queued = await makeQueuedRepo(2);
      const writer = await make.user();
      const path = `${queued.own}/collaborators/${writer.name}`;
      await quietly("PUT", path, { as: queued.owner, json: { permission: "write" } });
      const [first, second] = queued.pulls;
      await enqueueAll({ ...queued, owner: writer, pulls: first ? [first] : [] });
      await enqueueAll({ ...queued, pulls: second ? [second] : [] });
      await drawConsequences();
      const result = await findResult(queued);
      await quietly("DELETE", path, { as: queued.owner });
      await report(queued, result?.oid ?? "", "success");
      await runChecks(queued, () => "success");
      expect(await listMerged(queued)).toEqual([1]);
      expect(first && (await timelineOf(first))[1]).toMatch(/^pull_dequeued refused: /);
    });

    it("if it is deleted", async () => {
      const { queued, result } = await makeTesting(2);
      const [first] = queued.pulls;
      const path = `${queued.own}/issues/${first?.number}`;
      expect((await quietly("DELETE", path, { as: queued.owner })).status).toBe(204);
      await drawConsequences();
      expect((await findResult(queued))?.oid).not.toBe(result.oid);
      await runChecks(queued, () => "success");
      expect(await listMerged(queued)).toEqual([1]);
      expect((await nameOf(queued)).filter((name) => name.includes("queue"))).toEqual([]);
    });
  },
);

async function changeReviews(issueId: number): Promise<void> {
  await db.update(reviews).set({ isDismissed: true }).where(eq(reviews.issueId, issueId));
}

describe("a pull request that somebody takes out", () => {
  it("sends no notification", async () => {
    const queued = await makeQueuedRepo(1);
    const writer = await make.user();
    await quietly("PUT", `${queued.own}/collaborators/${writer.name}`, {
      as: queued.owner,
      json: { permission: "write" },
    });
    await enqueueAll({ ...queued, owner: writer });
    const path = `${queued.own}/pulls/1/queue`;
    expect((await quietly("DELETE", path, { as: writer })).status).toBe(204);
    await drawConsequences();
    const [pull] = queued.pulls;
    expect(pull && (await timelineOf(pull)).at(-1)).toBe("pull_dequeued left");
    const unread = db.select().from(notifications);
    expect(await unread.where(eq(notifications.issueId, pull?.id ?? 0))).toEqual([]);
  });
});

describe("all pull requests leave a queue", { timeout: 300_000 }, () => {
  const reasonsOf = async ({ pulls: all }: QueuedRepo): Promise<(string | undefined)[]> =>
    Promise.all(all.map(async (pull) => (await timelineOf(pull)).at(-1)));

  it("whose rule has no queue any more, at the next step or within ten minutes", async () => {
    const { queued } = await makeTesting(2);
    await changeRule(queued, { isMergeQueueEnabled: false });
    await runScheduleIn(9 * MINUTES);
    expect(await isEmpty(queued)).toBe(false);
    await runScheduleIn(11 * MINUTES);
    expect(await reasonsOf(queued)).toEqual(Array(2).fill("pull_dequeued queue_removed"));
    expect(await isEmpty(queued)).toBe(true);
    expect((await nameOf(queued)).filter((name) => name.includes("queue"))).toEqual([]);
  });

  it("whose base is renamed", async () => {
    const { queued } = await makeTesting(2);
    const answer = await quietly("PATCH", `${queued.own}/branches/main`, {
      as: queued.owner,
      json: { name: "trunk" },
    });
    expect(answer.status).toBe(204);
    await drawConsequences();
    expect(await reasonsOf(queued)).toEqual(Array(2).fill("pull_dequeued retargeted"));
    expect(await isEmpty(queued)).toBe(true);
    expect((await nameOf(queued)).filter((name) => name.includes("queue"))).toEqual([]);
  });

  it("whose results can't have a branch", async () => {
    const queued = await makeQueuedRepo(2);
    const history = new History();
    const oid = history.commit({ files: { x: "x" } });
    await changeRule(queued, { isMergeQueueEnabled: false });
    await pushQuietly(
      queued.owner,
      queued.repo,
      [{ ref: "refs/heads/queue", new: oid }],
      history.build(),
    );
    await changeRule(queued, { isMergeQueueEnabled: true });
    await enqueueAll(queued);
    await drawConsequences();
    expect(await reasonsOf(queued)).toEqual(Array(2).fill("pull_dequeued branch_refused"));
    expect(await isEmpty(queued)).toBe(true);
  });

  it("whose repository is deleted", async () => {
    const { queued } = await makeTesting(2);
    expect((await quietly("DELETE", queued.own, { as: queued.owner })).status).toBe(204);
    await drawConsequences();
    await runScheduleIn(11 * MINUTES);
    const rows = await db.select().from(mergeQueues).where(eq(mergeQueues.repoId, queued.repo.id));
    expect(rows).toEqual([]);
    const left = await db.select().from(issues).where(eq(issues.repoId, queued.repo.id));
    expect(left).toEqual([]);
  });
});
