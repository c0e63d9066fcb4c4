import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  branchProtections,
  type ProtectionSettings,
  repositories,
  timelineEntries,
} from "../../../../src/db/schema/index.ts";
import { syncPullMirror } from "../../../../src/domain/exchange/mirrors/pull/sync-pull-mirror.ts";
import { call } from "../../../support/call.ts";
import { drawConsequences } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import {
  apiOf,
  BRANCHES,
  commits,
  compare,
  expressionOf,
  makeWorld,
  oidOf,
  pickMove,
  pushOne,
  runSeeds,
  type WayIn,
  type World,
} from "../../../support/generated-rules.ts";
import { make } from "../../../support/make.ts";
import { quietly } from "../../../support/merge-queues.ts";
import { makePullMirror } from "../../../support/mirror-rows.ts";
import { makeTagRule } from "../../../support/protections.ts";
import { makePull } from "../../../support/pulls.ts";
import { pushCommands, refsOf, storeRefs } from "../../../support/push.ts";
import { commitsOn, type GitRemote, makeRemote } from "../../../support/remotes.ts";
import { systemCtx } from "../../../support/system.ts";
import { caseCount } from "../../../support/sample.ts";

const MIRRORS = caseCount(4, 8);

/**
 * Makes a pull request of one of the commits, and gives every rule for its base a list of those who
 * merge: besides files and signatures, a rule checks only these users.
 *
 * @param more Further settings of these rules.
 */
async function makeRuledPull(world: World, more: Partial<ProtectionSettings> = {}) {
  const { actor, branch, random, repo } = world;
  const { forward, path } = pickMove(random);
  const isMerger = random.chance(60);
  const merge = {
    isRestricted: true,
    userIds: isMerger ? [actor.user.id] : [0],
    teamIds: [],
    deployKeys: false,
  };
  for (const rule of world.appliedTo(branch)) {
    const settings = { ...rule.settings, ...more, merge };
    await db.update(branchProtections).set({ settings }).where(eq(branchProtections.id, rule.id));
  }
  const pull = await makePull(repo, {
    headOid: forward,
    headBranch: "topic",
    baseBranch: branch,
    mergeBaseOid: commits.base,
    checkedBaseOid: commits.base,
  });
  await storeRefs(repo, [{ ref: `refs/pull/${pull.number}/head`, oid: forward }], commits.pack);
  const applied = world.appliedTo(branch);
  const isGuarded = applied.some(({ settings }) =>
    settings.protectedFilePatterns
      .split(";")
      .some((each) => each !== "" && expressionOf(each.toLowerCase(), "./").test(path)),
  );
  const expected = [
    applied.length > 0 && !isMerger && "User not allowed to merge PR",
    isGuarded && "Changed protected files",
    applied.some(({ settings }) => settings.requireSignedCommits) && "unverified",
  ].find((refusal) => refusal !== false);
  return { pull, expected };
}

const WAYS: Record<string, WayIn> = {
  async "a merge of a pull request"(seed) {
    const world = await makeWorld(seed);
    const { pull, expected } = await makeRuledPull(world);
    const path = apiOf(world.repo, `pulls/${pull.number}/merge`);
    const answer = await quietly("POST", path, { as: world.actor.user, json: { Do: "merge" } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(expected === undefined ? 200 : 405);
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${world.branch}`, expected, words, commits.base);
  },

  async "a merge queue"(seed) {
    const world = await makeWorld(seed);
    const { actor, branch, repo } = world;
    const queue = { isMergeQueueEnabled: true, mergeQueueStyle: "", mergeQueueBatchSize: 5 };
    const { pull, expected } = await makeRuledPull(world, queue as Partial<ProtectionSettings>);
    const path = apiOf(repo, `pulls/${pull.number}/queue`);
    const answer = await quietly("POST", path, { as: actor.user, json: { Do: "merge" } });
    await drawConsequences();
    const refusal = world.appliedTo(branch).length === 0 ? "no merge queue" : expected;
    const entries = await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, pull.id));
    const words = JSON.stringify([answer.body, entries.map(({ body }) => body)]);
    return compare(world, `refs/heads/${branch}`, refusal, words, commits.base);
  },

  async "a merge of the upstream"(seed) {
    const world = await makeWorld(seed);
    const { repo, branch, actor } = world;
    const { path, forward } = pickMove(world.random);
    const upstream = await make.repo(actor.user, { networkName: repo.networkName });
    await storeRefs(upstream, [{ ref: `refs/heads/${branch}`, oid: forward }], commits.pack);
    await db
      .update(repositories)
      .set({ parentId: upstream.id, isFork: true })
      .where(eq(repositories.id, repo.id));
    const answer = await call("POST", apiOf(repo, "merge-upstream"), {
      as: actor.user,
      json: { branch },
    });
    const attempt = { kind: "update", changed: [path], hasCommits: true } as const;
    const expected = world.expected(branch, attempt);
    expect(answer.status, JSON.stringify(answer.body)).toBe(expected === undefined ? 200 : 403);
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${branch}`, expected, words, commits.base);
  },
};

describe("generated rules and a model agree", { timeout: 120_000 }, () => {
  it.each(Object.entries(WAYS))("on %s", async (name, way) => {
    const results = await runSeeds(name, way);
    // A way in that always or never succeeds would compare nothing.
    expect(results).toContain(undefined);
    expect(
      results.some((result) => result !== undefined),
      results.join(),
    ).toBe(true);
  });
});

/**
 * A remote with branches of another history, so that a mirror that has them moves them by force.
 */
async function makeOther(branches: readonly string[]): Promise<GitRemote> {
  const remote = await makeRemote();
  const stream = branches.map((name) => commitsOn(name, 1)).join("");
  await remote.git(["fast-import", "--quiet"], stream);
  await remote.git(["update-ref", "refs/tags/v1", "refs/heads/main"]);
  // SECURITY: a remote must not forge what only the service writes.
  await remote.git(["update-ref", "refs/pull/7/head", "refs/heads/main"]);
  await remote.git(["update-ref", "refs/for/main", "refs/heads/main"]);
  return remote;
}

describe("generated rules and a mirror", { timeout: 120_000 }, () => {
  // The remote decides what a mirror is: a rule would only keep it from being one. As in Gitea.
  it("bind people only: a synchronization moves, creates and deletes what they protect", async () => {
    const refusals: (string | undefined)[] = [];
    const remotes = [await makeOther(["main", "new/1"]), await makeOther([...BRANCHES, "new/1"])];
    for (let seed = 1; seed <= MIRRORS; seed++) {
      const world = await makeWorld(seed * 13);
      const { actor, branch, random, repo } = world;
      const remote = random.pick(remotes);
      await makeTagRule(repo, { namePattern: "v*", userIds: [0] });
      await makePullMirror(repo, { address: remote.url(), dueAt: 1, syncedAt: 1 });
      const ref = `refs/heads/${branch}`;

      const pushed = await pushCommands(actor.user, repo, [{ ref, old: commits.base }]);
      expect(pushed.status).toBe(403);
      const url = apiOf(repo, `branches/${branch}`);
      expect((await call("DELETE", url, { as: actor.user })).status).toBe(403);
      expect(await oidOf(repo, ref)).toBe(commits.base);

      await syncPullMirror(systemCtx({}, Date.now()), repo.id);

      const { "refs/pull/7/head": _pull, "refs/for/main": _for, ...branches } = await remote.refs();
      const refs = await refsOf(repo);
      expect(Object.fromEntries(refs.map(({ name, oid }) => [name, oid]))).toEqual(branches);

      // The rules are there again once it is a mirror no more.
      await db.update(repositories).set({ isMirror: false }).where(eq(repositories.id, repo.id));
      const old = branches[ref];
      if (old === undefined || branch === "main") continue;
      refusals.push(await pushOne(world, ref, { old }, world.expected(branch, { kind: "delete" })));
    }
    expect(refusals).toContain("deletion");
  });
});
