import { eq } from "drizzle-orm";

import { pulls, scheduledMerges } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { makePull } from "../../support/pulls.ts";
import { storeSampleUpdate } from "../../support/samples/sample-code.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoPullRequestIsMerged: {
    request: async (world) => {
      const repo = await world.repo();
      const { number } = await makePull(repo, { mergedAt: 1 }, { isClosed: true });
      return { path: { ...(await world.repoPath()), index: number } };
    },
  },
  repoMergePullRequest: {
    request: async (world) => ({ path: await world.mergeablePath(), json: { Do: "merge" } }),
    announces: once("repository.pushed", "pull.merged"),
  },
  repoCancelScheduledAutoMerge: {
    request: async (world) => {
      const { id: issueId, repoId } = await world.pull();
      const { id: doerId } = await world.user();
      const style = "merge";
      await db.insert(scheduledMerges).values({ issueId, repoId, doerId, style, createdAt: 1 });
      return { path: await world.pullPath() };
    },
    announces: once("pull.merge_unscheduled"),
  },
  repoUpdatePullRequest: {
    request: async (world) => {
      const [repo, pull] = [await world.repo(), await world.pull()];
      const baseBranch = "ahead";
      await storeSampleUpdate(repo, pull.pull.checkedBaseOid, baseBranch);
      await db.update(pulls).set({ baseBranch }).where(eq(pulls.issueId, pull.id));
      return { path: await world.pullPath() };
    },
    announces: once("repository.pushed"),
  },
});
