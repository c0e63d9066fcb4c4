import { and, eq, or, sql } from "drizzle-orm";

import type { Database } from "../../db/db.ts";
import { repositories, repositoryTransfers } from "../../db/schema/index.ts";

/** Cancels the pending transfers between two accounts: from one, or from a repository of one, to the other. */
export const deleteTransfersBetween = (db: Database, oneId: number, otherId: number) =>
  db.delete(repositoryTransfers).where(or(isFromTo(oneId, otherId), isFromTo(otherId, oneId)));

const isFromTo = (fromId: number, toId: number) =>
  and(
    eq(repositoryTransfers.recipientId, toId),
    or(
      eq(repositoryTransfers.doerId, fromId),
      sql`exists (
        select 1 from ${repositories}
        where ${repositories.id} = ${repositoryTransfers.repoId}
          and ${repositories.ownerId} = ${fromId}
      )`,
    ),
  );
