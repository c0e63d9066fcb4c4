import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import {
  branchProtections,
  commitStatuses,
  reviews,
  type CommitState,
  type ProtectionSettings,
  type Pull,
  type Review,
} from "../../../../src/db/schema/index.ts";
import { findMergeRefusal } from "../../../../src/domain/code/protections/merge-refusal.ts";
import { findPull } from "../../../../src/domain/pulls/pull/find-pull.ts";
import { findVisibleRepository } from "../../../../src/domain/repos/repository/find-repository.ts";
import { db } from "../../../support/db.ts";
import { makeFiles } from "../../../support/files.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { makeRule, makeRuleset } from "../../../support/protections.ts";
import { makePull, type TestPull } from "../../../support/pulls.ts";
import { storePush } from "../../../support/push.ts";
import { systemCtx } from "../../../support/system.ts";

/** A pull request of a repository whose rule for `main` has some settings. */
async function makeWorld(settings: Partial<ProtectionSettings>, fields: Partial<Pull> = {}) {
  const [owner, writer] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, 2);
  await makeRule(repo, { settings });
  return { owner, writer, repo, pull: await makePull(repo, fields) };
}

/** The refusal of a merge by a user. */
async function refusalFor(by: TestUser, repo: TestRepo, pull: TestPull, isForced = false) {
  const ctx = { ...systemCtx({}, Date.now()), actor: { ...ANONYMOUS, user: by } };
  const context = await findVisibleRepository(ctx, repo.owner, repo.name);
  if (!context) throw new Error("the repository is not visible");
  return findMergeRefusal(ctx, await findPull(ctx, context, pull.number), { isForced });
}

const addReview = (pull: TestPull, fields: Partial<Review>) =>
  db.insert(reviews).values({
    repoId: pull.repoId,
    issueId: pull.id,
    state: "approved",
    isOfficial: true,
    createdAt: 1000,
    updatedAt: 1000,
    ...fields,
  });

/** Statuses of the head, in order. */
async function addStatuses(pull: TestPull, ...all: [context: string, state: CommitState][]) {
  const rows = all.map(([context, state], at) => ({
    repoId: pull.repoId,
    commitOid: pull.pull.headOid,
    number: at + 1,
    state,
    context,
    description: "",
    targetUrl: "",
    createdAt: 1000,
  }));
  await db.insert(commitStatuses).values(rows);
}

const only = (user: { id: number }) => ({
  isRestricted: true,
  userIds: [user.id],
  teamIds: [],
  deployKeys: false,
});

describe("findMergeRefusal", () => {
  it("finds nothing without a rule, and none but writers", async () => {
    const { writer, repo, pull } = await makeWorld({ requiredApprovals: 1 }, { baseBranch: "dev" });
    const reader = await make.user();
    expect(await refusalFor(writer, repo, pull)).toBeUndefined();
    expect(await refusalFor(reader, repo, pull)).toBe("User not allowed to merge PR");
  });

  it.each<[string, Partial<Review>[], string | undefined]>([
    ["none", [], "Does not have enough approvals"],
    ["one", [{}], "Does not have enough approvals"],
    ["two", [{}, {}], undefined],
    ["an unofficial one", [{}, { isOfficial: false }], "Does not have enough approvals"],
    ["a dismissed one", [{}, { isDismissed: true }], "Does not have enough approvals"],
    ["a stale one", [{}, { isStale: true }], undefined],
    ["a comment", [{}, { state: "comment" }], "Does not have enough approvals"],
  ])("counts approvals: %s of two", async (_, all, expected) => {
    const { writer, repo, pull } = await makeWorld({ requiredApprovals: 2 });
    for (const fields of all) await addReview(pull, fields);
    expect(await refusalFor(writer, repo, pull)).toBe(expected);
  });

  it("counts no stale approval where the rule ignores them", async () => {
    const { writer, repo, pull } = await makeWorld({
      requiredApprovals: 1,
      ignoreStaleApprovals: true,
    });
    await addReview(pull, { isStale: true });
    expect(await refusalFor(writer, repo, pull)).toBe("Does not have enough approvals");
  });

  it("is blocked by official rejections and requests only, if the rule requires it", async () => {
    const { writer, repo, pull } = await makeWorld({
      blockOnRejectedReviews: true,
      blockOnOfficialReviewRequests: true,
    });
    const open = await makeWorld({});
    for (const world of [{ repo, pull }, open]) {
      await addReview(world.pull, { state: "request_changes", isOfficial: false });
      await addReview(world.pull, { state: "request_changes", isDismissed: true });
      await addReview(world.pull, { state: "request_review", isOfficial: false });
    }
    expect(await refusalFor(writer, repo, pull)).toBeUndefined();
    await addReview(pull, { state: "request_review", reviewerId: writer.id });
    expect(await refusalFor(writer, repo, pull)).toBe("There are official review requests");
    await addReview(pull, { state: "request_changes" });
    expect(await refusalFor(writer, repo, pull)).toBe("There are requested changes");
    await addReview(open.pull, { state: "request_changes" });
    expect(await refusalFor(open.writer, open.repo, open.pull)).toBeUndefined();
  });

  it.each<[string, string[], [string, CommitState][], boolean]>([
    ["no status", [], [], false],
    ["any success", [], [["x", "success"]], true],
    [
      "one that fails",
      [],
      [
        ["x", "success"],
        ["y", "failure"],
      ],
      false,
    ],
    ["another context", ["ci/*"], [["lint", "success"]], false],
    ["one of two patterns", ["ci/*", "lint"], [["ci/a", "success"]], false],
    [
      "both patterns",
      ["ci/*", "lint"],
      [
        ["ci/a", "success"],
        ["lint", "skipped"],
      ],
      true,
    ],
    ["a pattern across slashes", ["ci*"], [["ci/a/b", "warning"]], true],
    [
      "one of several matches pending",
      ["ci*"],
      [
        ["ci/a", "success"],
        ["ci/b", "pending"],
      ],
      false,
    ],
    [
      "a failure that nothing requires",
      ["lint"],
      [
        ["lint", "success"],
        ["ci", "error"],
      ],
      true,
    ],
    [
      "a failure and then a success",
      ["ci"],
      [
        ["ci", "error"],
        ["ci", "success"],
      ],
      true,
    ],
    [
      "a success and then a failure",
      ["ci"],
      [
        ["ci", "success"],
        ["ci", "error"],
      ],
      false,
    ],
  ])("checks statuses: %s", async (_, statusContexts, statuses, isDone) => {
    const { writer, repo, pull } = await makeWorld({ isStatusCheckEnabled: true, statusContexts });
    if (statuses.length > 0) await addStatuses(pull, ...statuses);
    expect(await refusalFor(writer, repo, pull)).toBe(
      isDone ? undefined : "Not all required status checks successful",
    );
  });

  it("is blocked by commits of the base that the head lacks", async () => {
    const settings = { blockOnOutdatedBranch: true };
    const behind = await makeWorld(settings, { behindCount: 1 });
    expect(await refusalFor(behind.writer, behind.repo, behind.pull)).toBe(
      "The head branch is behind the base branch",
    );
    const { writer, repo, pull } = await makeWorld(settings);
    expect(await refusalFor(writer, repo, pull)).toBeUndefined();
  });

  it("is blocked by changes of protected files since the merge base", async () => {
    const before = makeFiles({ "a.txt": "1", "b.lock": "1", "d/c.txt": "1" });
    const after = makeFiles(
      { "a.txt": "2", "b.lock": "1", "d/c.txt": "1" },
      { before, seconds: 1_700_000_001 },
    );
    const refusalOf = async (protectedFilePatterns: string) => {
      const fields = { mergeBaseOid: before.oid, headOid: after.oid };
      const { writer, repo, pull } = await makeWorld({ protectedFilePatterns }, fields);
      await storePush(repo, "refs/heads/main", before.oid, before.pack);
      await storePush(repo, "refs/heads/topic", after.oid, after.pack);
      return refusalFor(writer, repo, pull);
    };
    expect(await refusalOf("*.lock;d/**")).toBeUndefined();
    expect(await refusalOf("*.lock;*.txt")).toBe("Changed protected files");
  });

  it("lets only those on the list merge, by name or by team, and administrators only if they are on it", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const [team, other] = [
      await make.team(org, { access: 2 }),
      await make.team(org, { access: 2 }),
    ];
    await make.member(org, team, member);
    const pull = await makePull(repo);
    const merge = { ...only({ id: 0 }), teamIds: [other.id] };
    const rule = await makeRuleset(org, { settings: { merge } });
    const refused = "User not allowed to merge PR";
    expect(await refusalFor(member, repo, pull)).toBe(refused);
    expect(await refusalFor(owner, repo, pull, true)).toBe(refused);
    await makeRule(repo, { settings: { merge: { ...merge, teamIds: [team.id] } } });
    // The organization's rule does not name the team.
    expect(await refusalFor(member, repo, pull)).toBe(refused);
    await db.delete(branchProtections).where(eq(branchProtections.id, rule.id));
    expect(await refusalFor(member, repo, pull)).toBeUndefined();
    expect(await refusalFor(owner, repo, pull)).toBe(refused);
  });

  it("is overridden by force of administrators, where no rule blocks that", async () => {
    const { owner, writer, repo, pull } = await makeWorld({ requiredApprovals: 1 });
    const missing = "Does not have enough approvals";
    expect(await refusalFor(owner, repo, pull)).toBe(missing);
    expect(await refusalFor(writer, repo, pull, true)).toBe(missing);
    expect(await refusalFor(owner, repo, pull, true)).toBeUndefined();
    const blocked = await makeWorld({ requiredApprovals: 1, blockAdminMergeOverride: true });
    expect(await refusalFor(blocked.owner, blocked.repo, blocked.pull, true)).toBe(missing);
  });
});
