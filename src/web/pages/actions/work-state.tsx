import type { WorkState } from "../../../db/schema/index.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";
import { formatGoDuration } from "../../../lib/go-duration.ts";
import { Icon } from "../icon.tsx";

/** The states in words. */
export const STATE_WORDS: Readonly<Record<WorkState, string>> = {
  blocked: "Blocked",
  waiting: "Waiting",
  running: "Running",
  success: "Succeeded",
  failure: "Failed",
  cancelled: "Cancelled",
  skipped: "Skipped",
};

const ICONS: Readonly<Record<WorkState, string>> = {
  blocked: "lock",
  waiting: "dot",
  running: "dot",
  success: "check",
  failure: "cross",
  cancelled: "cross",
  skipped: "skip",
};

const COLORS: Readonly<Record<WorkState, string>> = {
  blocked: "dot",
  waiting: "dot",
  running: "running",
  success: "check",
  failure: "cross",
  cancelled: "dot",
  skipped: "dot",
};

/** The picture of a state, with its word for those who hear it. */
export function StateMark({ state }: { state: WorkState }) {
  return (
    <span class={`status ${COLORS[state]}`} title={STATE_WORDS[state]}>
      <Icon name={ICONS[state]} />
      <span class="hidden">{STATE_WORDS[state]}</span>
    </span>
  );
}

interface Work {
  readonly state: WorkState;
  readonly startedAt?: number | null;
  readonly stoppedAt?: number | null;
}

/** How long work took, or has taken so far: `1m5s`; "" before it begins. */
export function durationOf({ state, startedAt, stoppedAt }: Work, now: number): string {
  if (startedAt === null || startedAt === undefined) return "";
  const end = stoppedAt ?? (isFinal(state) ? startedAt : now);
  return formatGoDuration(Math.max(0, Math.round((end - startedAt) / 1000)));
}
