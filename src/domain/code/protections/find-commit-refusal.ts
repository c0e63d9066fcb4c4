import type { Ctx } from "../../../context.ts";
import { encodeText } from "../../../git/byte-text.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { rulesOfBranch } from "./match-rule.ts";
import { isQueueBranch } from "./merge-queue-rule.ts";
import { callerOf, mayPush } from "./permitted.ts";
import { type Forbidden, ProtectedRef } from "./ref-refusal.ts";
import { pathMatcherOf } from "./rule-patterns.ts";
import { loadRules } from "./select-rules.ts";

/**
 * Finds why the rules of a branch do not let the caller commit a change of some files to it, before
 * the change is made: who may push, and which files are protected. `BranchRule` decides once there
 * is a commit.
 *
 * Cost: as `loadRules`.
 *
 * @param paths The files; without any, a reason for protected files is not found.
 */
export async function findCommitRefusal(
  ctx: Ctx,
  repo: RepositoryContext,
  branch: string,
  paths: readonly string[],
): Promise<ProtectedRef | undefined> {
  const rules = await loadRules(ctx, repo);
  const { budget } = ctx.git;
  const refuse = (forbidden: Forbidden) => new ProtectedRef(branch, forbidden);
  if (isQueueBranch(rules, branch, budget)) return refuse({ kind: "merge-queue" });
  const matches = (list: string, path: string): boolean =>
    pathMatcherOf(list)?.(encodeText(path), budget) ?? false;
  for (const { settings } of rulesOfBranch(rules, branch, budget)) {
    const path = paths.find((each) => matches(settings.protectedFilePatterns, each));
    if (path !== undefined) return refuse({ kind: "file", path });
    if (mayPush(settings, callerOf(ctx, rules))) continue;
    const areUnprotected =
      paths.length > 0 && paths.every((each) => matches(settings.unprotectedFilePatterns, each));
    if (!areUnprotected) return refuse({ kind: "pusher" });
  }
  return undefined;
}
