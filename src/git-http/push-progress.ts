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

/** Checks that take less are not worth a line, in milliseconds: what git waits too. */
const DELAY_MS = 2000;

/** New branches of one push for which a pull request is suggested. */
const SUGGESTIONS_MAX = 5;

/** Tells in git's words how far the check of a pack is. */
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

/** Where a pull request of each new branch can be made; "" where there is none. */
export function suggestPulls(
  { ctx, repo }: RequestContext,
  commands: readonly RefCommand[],
  results: readonly RefResult[],
): string {
  const { owner, row } = repo;
  // The first branch of a repository is nothing to be pulled into another.
  if (row.isEmpty || !isAllowed(repo, { unit: "pulls", mode: "read" })) return "";
  const done = new Set(results.filter(({ kind }) => kind === "ok").map(({ ref }) => ref));
  const branches = commands
    .filter(({ ref, oldOid }) => done.has(ref) && oldOid === NULL_OID)
    .filter(({ ref }) => ref.startsWith(BRANCHES))
    .map(({ ref }) => decodeText(ref.slice(BRANCHES.length) as ByteText))
    .filter((branch) => branch !== row.defaultBranch);
  const compare = `${htmlUrlOf({ owner, row }, ctx)}/compare`;
  const words = branches.slice(0, SUGGESTIONS_MAX).map((branch) => {
    const address = `${compare}/${encodePath(row.defaultBranch)}...${encodePath(branch)}`;
    return `\nCreate a new pull request for '${branch}':\n  ${address}\n`;
  });
  return words.length > 0 ? `${words.join("")}\n` : "";
}

const BRANCHES = "refs/heads/";
