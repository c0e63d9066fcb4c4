import { getTableColumns, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { newRepositoryId, type NewRepositoryRef } from "../../../db/new-repository-id.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { hooks } from "../../../db/schema/index.ts";

/** The state of a hook that has delivered nothing yet. */
export const UNDELIVERED = {
  lastStatus: "none",
  lastDeliveredAt: null,
  failingSince: null,
  failureCount: 0,
  pausedAt: null,
  backoffUntil: null,
  leasedUntil: null,
} as const;

/**
 * The statement that copies the default hooks to a new repository, for the batch that creates the
 * repository. The copies are independent: later changes of the default hooks do not affect them.
 */
export const copyDefaultHooks = ({ db, now }: Ctx, repo: NewRepositoryRef) =>
  insertCopies(db, { repo, now });

const insertCopies = prepare((db, { repo, now }: Params<{ repo: NewRepositoryRef; now: number }>) =>
  insertSelect(
    db,
    hooks,
    {
      ...getTableColumns(hooks),
      id: sql`null`,
      level: "repository",
      repoId: newRepositoryId(repo),
      // The service approves the copy, regardless of who created the default hook.
      approverId: 0,
      ...UNDELIVERED,
      createdAt: now,
      updatedAt: now,
    },
    sql`from ${hooks} where ${hooks.level} = 'default' order by ${hooks.id}`,
  ),
);
