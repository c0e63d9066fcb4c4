import { mergeQueueEntries, mergeQueues, pulls } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { eq } from "drizzle-orm";
import { db } from "../../support/db.ts";
import { makeRule } from "../../support/protections.ts";
import { storeSampleUpdate } from "../../support/samples/sample-code.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const BASE = "queued";

/** Gives the world's pull request a base with a merge queue, and returns its path. */
async function makeQueueBase(world: World) {
  const [repo, pull] = [await world.repo(), await world.pull()];
  await makeRule(repo, { name: BASE, settings: { isMergeQueueEnabled: true } });
  await storeSampleUpdate(repo, pull.pull.checkedBaseOid, BASE);
  await db.update(pulls).set({ baseBranch: BASE }).where(eq(pulls.issueId, pull.id));
  return world.pullPath();
}

/** Stores the world's pull request in a merge queue, past the API. */
async function makeQueued(world: World) {
  const [{ id: repoId }, { id: doerId }] = [await world.repo(), await world.user()];
  const { id: issueId, pull } = await world.pull();
  const times = { createdAt: 1, dueAt: Number.MAX_SAFE_INTEGER };
  const { baseBranch: branch, headOid } = pull;
  await db
    .insert(mergeQueues)
    .values({ repoId, branch, ...times })
    .onConflictDoNothing();
  const isOfRepository = eq(mergeQueues.repoId, repoId);
  const queue = only(await db.select().from(mergeQueues).where(isOfRepository));
  await db
    .insert(mergeQueueEntries)
    .values({ queueId: queue.id, issueId, doerId, style: "merge", headOid, createdAt: 1 })
    .onConflictDoNothing();
  return world.pullPath();
}

export const samples = defineSamples({
  repoListMergeQueues: {
    request: async (world) => {
      await makeQueued(world);
      return { path: await world.repoPath() };
    },
  },
  repoGetMergeQueue: {
    request: async (world) => {
      await makeQueued(world);
      return { path: { ...(await world.repoPath()), branch: "main" } };
    },
  },
  repoGetPullRequestQueueEntry: {
    request: async (world) => ({ path: await makeQueued(world) }),
  },
  repoEnqueuePullRequest: {
    request: async (world) => ({ path: await makeQueueBase(world), json: { Do: "merge" } }),
    announces: once("pull.enqueued"),
    extraRound: "the place is read once it is queued",
  },
  repoDequeuePullRequest: {
    request: async (world) => ({ path: await makeQueued(world) }),
    announces: once("pull.dequeued"),
  },
});
