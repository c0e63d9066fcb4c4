import { describe, expect, it } from "vitest";

import { makeRandom } from "../../../../git/support/random.ts";
import { History } from "../../../../support/commits.ts";
import { drawConsequences, pushQuietly } from "../../../../support/consequences.ts";
import { readBranch } from "../../../../support/git.ts";
import {
  enqueueAll,
  findResult,
  isEmpty,
  listMerged,
  makeQueuedRepo,
  quietly,
  type QueuedRepo,
  report,
} from "../../../../support/merge-queues.ts";
import { seedsOf } from "../../../../support/sample.ts";

// Queues with generated failures and disturbances. The expectations do not use the service's code:
// a pull request is merged unless it is bad or was taken away, in the order of the queue, and the
// base only moves to a commit whose check succeeded.

/**
 * What may happen between two checks; returns the indexes of the pull requests that are not merged
 * because of it.
 */
type Disturbance = (queued: QueuedRepo, at: number) => Promise<number[]>;

const pathOf = ({ own, pulls }: QueuedRepo, at: number): string =>
  `${own}/pulls/${pulls[at]?.number}`;

const DISTURBANCES: readonly Disturbance[] = [
  async () => [],
  async (queued, at) => {
    const path = `${pathOf(queued, at)}/queue`;
    const { status } = await quietly("DELETE", path, { as: queued.owner });
    return status === 204 ? [at] : [];
  },
  async (queued, at) => {
    const json = { state: "closed" };
    const { status } = await quietly("PATCH", pathOf(queued, at), { as: queued.owner, json });
    return status === 201 ? [at] : [];
  },
  async (queued, at) => {
    const pull = await quietly("GET", pathOf(queued, at), { as: queued.owner });
    if (pull.body.state !== "open") return [];
    const history = new History();
    const old: string = pull.body.head.sha;
    const oid = history.commit({ files: { a: "1\n", [`f${at}`]: "new\n" }, parents: [old] });
    const ref = `refs/heads/topic-${at}`;
    await pushQuietly(queued.owner, queued.repo, [{ ref, old, new: oid }], history.build());
    return [at];
  },
];

async function play(seed: number) {
  const random = makeRandom(seed);
  const count = 3 + random.below(5);
  const queued = await makeQueuedRepo(count, {
    mergeQueueBatchSize: 1 + random.below(5),
    isPushEnabled: true,
  });
  const bad = new Set(Array.from({ length: random.below(3) }, () => random.below(count)));
  const gone = new Set<number>();
  const passed = new Set([queued.rootOid]);
  await enqueueAll(queued);
  for (let round = 0; round < 100; round++) {
    await drawConsequences();
    const { oid: baseOid } = await readBranch(queued.repo.id, "main");
    expect(passed, `seed ${seed}, round ${round}`).toContain(baseOid);
    const result = await findResult(queued);
    if (!result) break;
    if (random.below(4) === 0) {
      const disturb = random.pick(DISTURBANCES);
      for (const at of await disturb(queued, random.below(count))) gone.add(at);
      // The check of a result that is not built any more may still be reported.
      if (random.below(2) === 0) await drawConsequences();
    }
    const { files } = await readBranch(queued.repo.id, result.branch).catch(() => ({
      files: {} as Record<string, string>,
    }));
    const isBad = [...bad].some((at) => `f${at}` in files);
    if (random.below(3) === 0) await report(queued, result.oid, "pending");
    await report(queued, result.oid, isBad ? "failure" : "success");
    if (!isBad) passed.add(result.oid);
  }
  return { queued, bad, gone, count };
}

describe("a merge queue with generated checks and disturbances", { timeout: 600_000 }, () => {
  const seeds = seedsOf(2, 8, "merge queues");

  it.each(seeds)("merges what is good and still queued, in order: seed %i", async (seed) => {
    const { queued, bad, gone, count } = await play(seed);
    expect(await isEmpty(queued)).toBe(true);
    const merged = await listMerged(queued);
    expect(merged).toEqual(merged.toSorted((a, b) => a - b));
    for (const at of bad) expect(merged).not.toContain(at);
    const all = Array.from({ length: count }, (_, at) => at);
    // One that was disturbed when it had landed already is merged.
    expect(merged).toEqual(all.filter((at) => merged.includes(at) && !bad.has(at)));
    const missing = all.filter((at) => !merged.includes(at));
    expect(missing.filter((at) => !bad.has(at) && !gone.has(at))).toEqual([]);
    const { files } = await readBranch(queued.repo.id, "main");
    expect(Object.keys(files).toSorted()).toEqual(
      ["a", ...merged.map((at) => `f${at}`)].toSorted(),
    );
  });
});
