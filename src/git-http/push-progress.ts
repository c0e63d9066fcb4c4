import { ProgressMeter } from "../git/wire/progress.ts";
import type { ReceiveProgress } from "../storage/pack-receiver.ts";

/** Checks that take less time are not reported, in milliseconds. Git uses the same delay. */
const DELAY_MS = 2000;

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
