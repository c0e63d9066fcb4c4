import { getTableColumns, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { hooks } from "../../../db/schema/index.ts";

/**
 * The statement that gives a new repository the default hooks, for the batch that creates it. They are
 * its own from then on: what becomes of the default ones does not change them.
 *
 * @param repoId SQL of the repository's id.
 */
export const copyDefaultHooks = ({ db, now }: Ctx, repoId: SQL<number>) =>
  insertSelect(
    db,
    hooks,
    {
      ...getTableColumns(hooks),
      id: sql`null`,
      level: "repository",
      repoId,
      // The service's, whoever made the default one.
      approverId: 0,
      lastStatus: "none",
      lastDeliveredAt: null,
      failingSince: null,
      failureCount: 0,
      pausedAt: null,
      backoffUntil: null,
      leasedUntil: null,
      createdAt: now,
      updatedAt: now,
    },
    sql`from ${hooks} where ${hooks.level} = 'default' order by ${hooks.id}`,
  );
