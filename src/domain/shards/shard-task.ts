import type { SQL } from "drizzle-orm";

/** What is still to be done in a shard. Each task may be repeated. */
export type ShardTask = LostAssignmentsTask | FormerLabelsTask | RemainsTask;

/** Issues and pull requests lose assignees who may not read them any more. */
export interface LostAssignmentsTask {
  readonly kind: "lost_assignments";
  /** The owner of the repositories. */
  readonly ownerId: number;
  /** The only repository; null for all of the owner's. */
  readonly repoId: number | null;
  readonly userIds: readonly number[];
}

/** A transferred repository loses labels of its former owner. */
export interface FormerLabelsTask {
  readonly kind: "former_labels";
  readonly repoId: number;
  readonly formerOwnerId: number;
}

/** What a deleted repository leaves is removed. */
export interface RemainsTask {
  readonly kind: "remains";
  readonly repoId: number;
}

/** A task as a statement stores it, which may compute values. */
type OrSql<T> = { [K in keyof T]: K extends "kind" ? T[K] : T[K] | SQL };
export type NewShardTask = ShardTask extends infer T
  ? T extends ShardTask
    ? OrSql<T>
    : never
  : never;
