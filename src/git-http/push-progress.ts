import { isAllowed } from "../auth/access/permission.ts";
import { isUnitOn } from "../auth/access/unit-switches.ts";
import type { RequestContext } from "../entrance/enter-repository.ts";
import type { ByteText } from "../git/byte-text.ts";
import { decodeText } from "../git/byte-text.ts";
import { ProgressMeter } from "../git/wire/progress.ts";
import type { RefResult } from "../git/wire/receive-report.ts";
import { isDelete, type RefCommand } from "../git/wire/receive-request.ts";
import type { ReceiveProgress } from "../storage/pack-receiver.ts";
import { encodePath, htmlUrlOf } from "../shapes/urls.ts";

/** Checks that take less time are not reported, in milliseconds. Git uses the same delay. */
const DELAY_MS = 2000;

/** Maximum branches of one push for which a pull request is suggested. */
const HINTS_MAX = 5;

/** Reports the progress of a pack's verification in git's wording. */
export function reportProgress(report: (text: string) => void): ReceiveProgress {
  const startedAt = Date.now();
  let deltas: ProgressMeter | undefined;
  return {
    onDelta: (done, total) => {
      deltas ??= new ProgressMeter("Resolving deltas", total, report);
      deltas.update(done);
    },
    onResolved: (localCount) => {
      const objects = localCount === 1 ? "object" : "objects";
      deltas?.finish(localCount > 0 ? `completed with ${localCount} local ${objects}.` : undefined);
    },
    onConnected: (count) => {
      if (Date.now() - startedAt >= DELAY_MS) report(`Checking connectivity: ${count}, done.\n`);
    },
  };
}

/**
 * Hints with links to open a pull request for each updated branch but the default one; "" if there are none.
 */
export function suggestPulls(
  { ctx, repo }: RequestContext,
  commands: readonly RefCommand[],
  results: readonly RefResult[],
): string {
  const { owner, row } = repo;
  // The first branch of a repository has no base for a pull request.
  const arePullsOn = isUnitOn(row, "pulls") && isAllowed(repo, { unit: "pulls", mode: "read" });
  if (row.isEmpty || !arePullsOn) return "";
  const done = new Set(results.filter(({ kind }) => kind === "ok").map(({ ref }) => ref));
  const branches = commands
    .filter((command) => done.has(command.ref) && !isDelete(command))
    .filter(({ ref }) => ref.startsWith(BRANCHES))
    .map(({ ref }) => decodeText(ref.slice(BRANCHES.length) as ByteText))
    .filter((branch) => branch !== row.defaultBranch);
  const base = `${htmlUrlOf({ owner, row }, ctx)}/pulls/new`;
  const hints = branches.slice(0, HINTS_MAX).map((branch) => {
    return `\nCreate a new pull request for '${branch}':\n  ${base}/${encodePath(branch)}\n`;
  });
  return hints.length > 0 ? `${hints.join("")}\n` : "";
}

const BRANCHES = "refs/heads/";
