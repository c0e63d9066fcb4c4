import { and, eq, or, sql, type SQL } from "drizzle-orm";

import type { Database } from "../../db/db.ts";
import { collaborations, repositories } from "../../db/schema/index.ts";

// Statements that change collaborations, for the batches of the operations in `domain`.

/** Deletes the collaborations of two accounts on each other's repositories. */
export const deleteCollaborationsBetween = (db: Database, oneId: number, otherId: number) =>
  db.delete(collaborations).where(or(isOn(oneId, otherId), isOn(otherId, oneId)));

const isOn = (userId: number, ownerId: number) =>
  and(
    eq(collaborations.userId, userId),
    sql`${collaborations.repoId} in ${repositoryIdsOf(ownerId)}`,
  );

const repositoryIdsOf = (ownerId: number): SQL => sql`(
  select ${repositories.id} from ${repositories} where ${repositories.ownerId} = ${ownerId}
)`;
