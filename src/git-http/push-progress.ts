import { isAllowed } from "../auth/access/permission.ts";
import type { RequestContext } from "../entrance/enter-repository.ts";
import type { ByteText } from "../git/byte-text.ts";
import { decodeText } from "../git/byte-text.ts";
import { ProgressMeter } from "../git/wire/progress.ts";
import { NULL_OID } from "../git/oid.ts";
import type { RefResult } from "../git/wire/receive-report.ts";
import type { RefCommand } from "../git/wire/receive-request.ts";
import type { ReceiveProgress } from "../storage/pack-receiver.ts";
import { encodePath, htmlUrlOf } from "../shapes/urls.ts";

/** Checks that take less time are not reported, in milliseconds. Git uses the same delay. */
const DELAY_MS = 2000;

/** Maximum new branches of one push for which a pull request is suggested. */
const SUGGESTIONS_MAX = 5;

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

/** Suggestions with links to open a pull request for each new branch; "" if there are none. */
export function suggestPulls(
  { ctx, repo }: RequestContext,
  commands: readonly RefCommand[],
  results: readonly RefResult[],
): string {
  const { owner, row } = repo;
  // The first branch of a repository has no base for a pull request.
  if (row.isEmpty || !isAllowed(repo, { unit: "pulls", mode: "read" })) return "";
  const done = new Set(results.filter(({ kind }) => kind === "ok").map(({ ref }) => ref));
  const branches = commands
    .filter(({ ref, oldOid }) => done.has(ref) && oldOid === NULL_OID)
    .filter(({ ref }) => ref.startsWith(BRANCHES))
    .map(({ ref }) => decodeText(ref.slice(BRANCHES.length) as ByteText))
    .filter((branch) => branch !== row.defaultBranch);
  const compare = `${htmlUrlOf({ owner, row }, ctx)}/compare`;
  const suggestions = branches.slice(0, SUGGESTIONS_MAX).map((branch) => {
    const address = `${compare}/${encodePath(row.defaultBranch)}...${encodePath(branch)}`;
    return `\nCreate a new pull request for '${branch}':\n  ${address}\n`;
  });
  return suggestions.length > 0 ? `${suggestions.join("")}\n` : "";
}

const BRANCHES = "refs/heads/";
