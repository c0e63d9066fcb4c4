import type { SQL } from "drizzle-orm";

import type { Ctx } from "../context.ts";
import type { WorkBudget } from "../lib/work-budget.ts";
import type { Event } from "./event.ts";

/** Kinds of events from which something may follow. */
const KINDS_WITH_CONSEQUENCES = [
  "repository.pushed",
  "repository.edited",
  "repository.forked",
  "repository.transferred",
  "commit_status.created",
  "repository.deleted",
  "issue.opened",
  "issue.edited",
  "issue.closed",
  "issue.reopened",
  "issue.assigned",
  "issue.unassigned",
  "issue.labeled",
  "issue.labels_cleared",
  "issue.milestoned",
  "issue.demilestoned",
  "issue.deleted",
  "comment.created",
  "comment.edited",
  "pull.retargeted",
  "pull.synchronized",
  "pull.merged",
  "pull.merge_scheduled",
  "pull.enqueued",
  "pull.dequeued",
  "pull.ready",
  "pull.review_requested",
  "pull.review_request_removed",
  "review.dismissed",
  "review.submitted",
  "release.published",
  "release.updated",
  "release.deleted",
  "wiki.changed",
  "package.created",
  "hook.paused",
  "workflow_run.changed",
] as const satisfies readonly Event["type"][];
type ConsequenceKind = (typeof KINDS_WITH_CONSEQUENCES)[number];

const KINDS: ReadonlySet<Event["type"]> = new Set(KINDS_WITH_CONSEQUENCES);

export const hasConsequences = (type: Event["type"]): boolean => KINDS.has(type);

/** The events of these kinds, also where a kind shares its fields with others. */
type Handled<E> = E extends { type: infer T }
  ? Extract<T, ConsequenceKind> extends never
    ? never
    : E & { type: Extract<T, ConsequenceKind> }
  : never;

/** An event that was recorded, as its consequences receive it. */
export interface RecordedEvent {
  /** Increases with time, and identifies the event permanently. */
  readonly id: number;
  /** 0 for none. */
  readonly actorId: number;
  /** When it was recorded, in milliseconds. */
  readonly createdAt: number;
  readonly event: Handled<Event>;
}

/** Something that follows from events of some kinds, and that their requests do not wait for. */
export interface Consequence {
  /** Permanent: stored with events whose consequences are being drawn. */
  readonly name: string;
  readonly kinds: readonly ConsequenceKind[];
  /**
   * The condition, over `events`, that there may be something to do for an event of these kinds;
   * always, if missing. It is read once for all consequences, when events are leased, for
   * consequences that mostly find nothing to do.
   *
   * What would make it true later must have an event of its own, or find what this event is about
   * itself.
   */
  readonly isNeeded?: SQL;
  /**
   * Does a step of the work, of a few seconds at most.
   *
   * A step may be repeated, also concurrently, and after it took effect in whole or in part: it
   * must write nothing twice. If it throws, it is repeated later from the same state.
   *
   * @param ctx The actor is the event's actor with their present permissions; anonymous if the
   *   account is gone.
   * @param budget For statements beyond a few, which the step should count.
   * @param state Undefined in the first step, then what the previous step returned.
   * @returns The state for the next step, as JSON; undefined if the work is done.
   */
  handle(ctx: Ctx, event: RecordedEvent, budget: WorkBudget, state: unknown): Promise<unknown>;
}
