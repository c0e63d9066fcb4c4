import { eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { deleteLostAssignments } from "../../auth/access/lost-assignments.ts";
import { type Database, flagColumn } from "../../db/db.ts";
import { repositoryRemains } from "../../db/schema/index.ts";
import { detachLabels, hasForeignLabels } from "../labels/detach-labels.ts";
import { removalStep } from "../repos/remove-remains.ts";
import type {
  FormerLabelsTask,
  LostAssignmentsTask,
  RemainsTask,
  ShardTask,
} from "../shards/shard-task.ts";

/** Users whose assignments one step checks. */
const USERS_AT_ONCE = 200;

/** A step of a task: a batch of the shard, which may be repeated. */
export interface TaskStep {
  readonly statements: readonly BatchItem<"sqlite">[];
  /**
   * @param results What the statements returned.
   * @returns The task for the next step; undefined if it is done.
   */
  readonly next: (results: readonly unknown[]) => ShardTask | undefined;
}

/** The next step of a task, in a shard whose copies have the change from which the task follows. */
export function taskStep(shard: Database, task: ShardTask): TaskStep {
  switch (task.kind) {
    case "lost_assignments":
      return lostAssignmentsStep(shard, task);
    case "former_labels":
      return formerLabelsStep(shard, task);
    case "remains":
      return remainsStep(shard, task);
    default:
      throw new Error(`an unknown task: ${JSON.stringify(task satisfies never)}`);
  }
}

function lostAssignmentsStep(shard: Database, task: LostAssignmentsTask): TaskStep {
  const { ownerId, repoId, userIds } = task;
  const left = userIds.slice(USERS_AT_ONCE);
  const ids = JSON.stringify(userIds.slice(0, USERS_AT_ONCE));
  return {
    statements: [
      deleteLostAssignments(shard, {
        ownerId,
        userIds: sql`(select value from json_each(${ids}))`,
        ...(repoId !== null && { repoId }),
      }),
    ],
    next: () => (left.length > 0 ? { ...task, userIds: left } : undefined),
  };
}

function formerLabelsStep(shard: Database, task: FormerLabelsTask): TaskStep {
  const { repoId, formerOwnerId } = task;
  const isLeft = flagColumn(hasForeignLabels(repoId, formerOwnerId), "is_left");
  return {
    statements: [
      ...detachLabels(shard, repoId, formerOwnerId),
      shard.select({ isLeft }).from(sql`(select 1)`),
    ],
    next: (results) => {
      const [found] = results.at(-1) as { isLeft: boolean }[];
      return found?.isLeft ? task : undefined;
    },
  };
}

function remainsStep(shard: Database, task: RemainsTask): TaskStep {
  return {
    statements: [
      ...removalStep(shard, task.repoId),
      shard.select().from(repositoryRemains).where(eq(repositoryRemains.repoId, task.repoId)),
    ],
    next: (results) => ((results.at(-1) as unknown[]).length > 0 ? task : undefined),
  };
}
