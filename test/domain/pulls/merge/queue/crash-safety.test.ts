import { describe, expect, it } from "vitest";

import { maintainRepository } from "../../../../../src/domain/code/git/maintain-repository.ts";
import { runDueQueues } from "../../../../../src/domain/pulls/merge/queue/run-due-queues.ts";
import { drawConsequences, silentBindings } from "../../../../support/consequences.ts";
import { eventsOf } from "../../../../support/events.ts";
import { failCalls, failing } from "../../../../support/faults.ts";
import { readBranch } from "../../../../support/git.ts";
import {
  enqueueAll,
  isEmpty,
  makeQueuedRepo,
  type QueuedRepo,
  rowOf,
  timelineOf,
} from "../../../../support/merge-queues.ts";
import { refsOf } from "../../../../support/push.ts";
import { systemCtx } from "../../../../support/system.ts";

const MINUTES = 60_000;
const SETTINGS = { ROOT_URL: "https://forge.example" };

/** Runs the jobs until nothing is left to do, as the schedule and the repository's alarm do. */
async function settle(queued: QueuedRepo): Promise<void> {
  await maintainRepository(
    systemCtx(silentBindings(), Date.now() + MINUTES, SETTINGS),
    queued.repo,
  );
  for (let round = 1; round <= 10 && !(await isEmpty(queued)); round++) {
    const now = Date.now() + round * 3 * MINUTES;
    await drawConsequences(undefined, now);
    await runDueQueues(systemCtx(silentBindings(), now, SETTINGS));
  }
  await drawConsequences(undefined, Date.now() + 60 * MINUTES);
}

describe("a merge queue", { timeout: 600_000 }, () => {
  it("merges each pull request once, whichever call fails, and if the Worker dies at it", async () => {
    const calls = await failCalls(
      async (fault) => {
        const queued = await makeQueuedRepo(2, { isStatusCheckEnabled: false });
        await enqueueAll(queued);
        const faults = failing(fault);
        await drawConsequences(faults.bindings).catch(() => undefined);
        await settle(queued);
        const where = `${faults.calls[fault.at]}, ${JSON.stringify(fault)}`;
        expect(await isEmpty(queued), where).toBe(true);
        const rows = await Promise.all(queued.pulls.map(rowOf));
        const timelines = await Promise.all(queued.pulls.map(timelineOf));
        const expected = ["pull_enqueued", "merge_pull"];
        expect(timelines, where).toEqual([expected, expected]);
        const main = await readBranch(queued.repo.id, "main");
        expect(rows.at(-1)?.mergeCommitOid, where).toBe(main.oid);
        expect(rows.at(-1)?.mergedBaseOid, where).toBe(rows[0]?.mergeCommitOid);
        const merged = (await eventsOf(queued.repo)).filter(({ type }) => type === "pull.merged");
        expect(merged, where).toHaveLength(2);
        const names = (await refsOf(queued.repo)).map(({ name }) => name);
        expect(
          names.filter((name) => name.includes("queue")),
          where,
        ).toEqual([]);
        return faults;
      },
      { isLong: true },
    );
    expect(calls).toBeGreaterThan(20);
  });
});
