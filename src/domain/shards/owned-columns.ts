import { eq } from "drizzle-orm";

import { type Params, prepare } from "../../db/prepared.ts";
import { repositories } from "../../db/schema/index.ts";

/** Selects those columns of a repository's row that belong to the shard with its own data. */
export const ownedColumns = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  db
    .select({
      isEmpty: repositories.isEmpty,
      language: repositories.language,
      licenses: repositories.licenses,
      sizeBytes: repositories.sizeBytes,
      lfsSizeBytes: repositories.lfsSizeBytes,
      lastIssueNumber: repositories.lastIssueNumber,
      openIssueCount: repositories.openIssueCount,
      closedIssueCount: repositories.closedIssueCount,
      openPullCount: repositories.openPullCount,
      closedPullCount: repositories.closedPullCount,
      releaseCount: repositories.releaseCount,
    })
    .from(repositories)
    .where(eq(repositories.id, repoId)),
);
