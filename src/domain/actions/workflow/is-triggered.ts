import { type FilterPattern, selects } from "./filter-pattern.ts";
import type { EventFilter, Workflow } from "./workflow.ts";

/** An event that may start workflows. */
export interface TriggeringEvent {
  /** What happened, such as `opened`; undefined for events without types. */
  readonly action?: string;
  /** The full ref that was pushed, created or deleted. */
  readonly ref: string;
  /**
   * The short name of the branch that `branches` filters: the base of a pull request, the branch
   * of a run that ended. Undefined if it is that of the ref.
   */
  readonly baseBranch?: string;
  /** The name of the workflow that ran, for `workflow_run`. */
  readonly workflowName?: string;
  /** Paths that differ, asked for only where a filter needs them. */
  changedPaths(): Promise<readonly string[] | "too many">;
}

/** The types that start a workflow which names none; all types for other events. */
const DEFAULT_TYPES: Readonly<Record<string, readonly string[]>> = {
  pull_request: ["opened", "reopened", "synchronize"],
  pull_request_target: ["opened", "reopened", "synchronize"],
};

/** Whether an event starts a workflow. */
export async function isTriggered(
  { triggers }: Workflow,
  eventName: string,
  event: TriggeringEvent,
): Promise<boolean> {
  const trigger = triggers.get(eventName);
  if (!trigger) return false;
  const types = trigger.types ?? DEFAULT_TYPES[eventName];
  if (types && event.action !== undefined && !types.includes(event.action)) return false;
  const { workflows } = trigger;
  if (workflows && !selects(workflows, event.workflowName ?? "")) return false;
  return passesRefs(trigger, event) && (await passesPaths(trigger, event));
}

function passesRefs(
  { branches, branchesIgnore, tags, tagsIgnore }: EventFilter,
  { ref, baseBranch }: TriggeringEvent,
): boolean {
  const branch = baseBranch ?? afterPrefix(ref, "refs/heads/");
  const tag = baseBranch === undefined ? afterPrefix(ref, "refs/tags/") : undefined;
  const filtersBranches = branches !== undefined || branchesIgnore !== undefined;
  const filtersTags = tags !== undefined || tagsIgnore !== undefined;
  if (!filtersBranches && !filtersTags) return true;
  // A file that filters only one kind of ref wants no other kind.
  if (branch !== undefined) return filtersBranches && passes(branch, branches, branchesIgnore);
  return tag !== undefined && filtersTags && passes(tag, tags, tagsIgnore);
}

async function passesPaths(
  { paths, pathsIgnore }: EventFilter,
  event: TriggeringEvent,
): Promise<boolean> {
  if (!paths && !pathsIgnore) return true;
  // Tags have no changes.
  if (event.baseBranch === undefined && event.ref.startsWith("refs/tags/")) return true;
  const changed = await event.changedPaths();
  if (changed === "too many") return true;
  return (
    (!paths || changed.some((path) => selects(paths, path))) &&
    (!pathsIgnore || changed.some((path) => !selects(pathsIgnore, path)))
  );
}

function passes(
  name: string,
  chosen: readonly FilterPattern[] | undefined,
  ignored: readonly FilterPattern[] | undefined,
): boolean {
  return (!chosen || selects(chosen, name)) && (!ignored || !selects(ignored, name));
}

function afterPrefix(ref: string, prefix: string): string | undefined {
  return ref.startsWith(prefix) ? ref.slice(prefix.length) : undefined;
}
