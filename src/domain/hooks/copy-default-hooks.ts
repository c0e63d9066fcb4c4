import { eq, getTableColumns, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { hooks } from "../../db/schema/index.ts";

/**
 * The statement that gives a new repository the default hooks, for the batch that creates it. They are
 * its own from then on: what becomes of the default ones does not change them.
 *
 * @param repoId SQL of the repository's id.
 */
export const copyDefaultHooks = ({ db, now }: Ctx, repoId: SQL<number>) =>
  db.insert(hooks).select(
    db
      .select({
        ...getTableColumns(hooks),
        id: sql<number>`null`.as("new_id"),
        level: sql<"repository">`'repository'`.as("new_level"),
        repoId: sql<number>`${repoId}`.as("new_repo_id"),
        // The service's, whoever made the default one.
        approverId: sql<number>`0`.as("new_approver_id"),
        lastStatus: sql<"none">`'none'`.as("new_last_status"),
        lastDeliveredAt: sql<null>`null`.as("new_last_delivered_at"),
        failingSince: sql<null>`null`.as("new_failing_since"),
        failureCount: sql<number>`0`.as("new_failure_count"),
        pausedAt: sql<null>`null`.as("new_paused_at"),
        heldUntil: sql<null>`null`.as("new_held_until"),
        busyUntil: sql<null>`null`.as("new_busy_until"),
        createdAt: sql<number>`${now}`.as("new_created_at"),
        updatedAt: sql<number>`${now}`.as("new_updated_at"),
      })
      .from(hooks)
      .where(eq(hooks.level, "default"))
      .orderBy(hooks.id),
  );
