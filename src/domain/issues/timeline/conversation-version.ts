import { eq, type SQL, sql } from "drizzle-orm";

import type { Database } from "../../../db/db.ts";
import { idOfNamed } from "../../../db/ids-of-names.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  branchTips,
  commitStatuses,
  issues,
  mergeQueueEntries,
  mergeQueues,
  pulls,
  scheduledMerges,
  timelineEntries,
} from "../../../db/schema/index.ts";
import { formatHex } from "../../../lib/hex.ts";
import { isNumbered } from "../issue/find-issue.ts";

/** A row of `versionByNumber` and `selectVersionByName`. */
interface VersionRow {
  readonly isPull: boolean;
  /** JSON, with a value for each thing that may change. */
  readonly facts: string;
}

/**
 * Selects what changes as soon as an issue or pull request gets an entry, an edit, a reaction, a
 * check, a push to its branches, a place in the merge queue, or another property.
 *
 * Cost: one row by each of its indexes, however long the conversation is.
 */
const selectVersion = (db: Database, repoId: SQL, number: SQL) => {
  const tipOf = (branchRepoId: SQL, branch: SQL): SQL => sql`(
    select ${branchTips.oid} from ${branchTips}
    where ${branchTips.repoId} = ${branchRepoId} and ${branchTips.branch} = ${branch}
  )`;
  const queue = sql`(
    select json_array(
      ${mergeQueues.state}, ${mergeQueues.batchNumber}, ${mergeQueueEntries.isInBatch},
      (
        select count(*) from ${mergeQueueEntries} other
        where other.queue_id = ${mergeQueues.id} and other.id < ${mergeQueueEntries.id}
      )
    )
    from ${mergeQueueEntries}
    join ${mergeQueues} on ${mergeQueues.id} = ${mergeQueueEntries.queueId}
    where ${mergeQueueEntries.issueId} = ${issues.id}
  )`;
  const facts = sql<string>`json_array(
    ${issues.updatedAt}, ${issues.commentCount}, ${issues.conversationVersion},
    ${issues.isClosed}, ${issues.isLocked},
    (
      select max(${timelineEntries.id}) from ${timelineEntries}
      where ${timelineEntries.issueId} = ${issues.id}
    ),
    ${pulls.headOid}, ${pulls.mergeState}, ${pulls.mergedAt},
    ${tipOf(sql`${pulls.repoId}`, sql`${pulls.baseBranch}`)},
    ${tipOf(sql`${pulls.headRepoId}`, sql`${pulls.headBranch}`)},
    (
      select max(${commitStatuses.number}) from ${commitStatuses}
      where ${commitStatuses.repoId} = ${pulls.repoId}
        and ${commitStatuses.commitOid} = ${pulls.headOid}
    ),
    (select 1 from ${scheduledMerges} where ${scheduledMerges.issueId} = ${issues.id}),
    ${queue}
  )`;
  return db
    .select({ isPull: issues.isPull, facts: facts.as("facts") })
    .from(issues)
    .leftJoin(pulls, eq(pulls.issueId, issues.id))
    .where(isNumbered(repoId, number));
};

/** The version of the conversation of a number. */
export const versionByNumber = prepare((db, p: Params<{ repoId: number; number: number }>) =>
  selectVersion(db, p.repoId, p.number),
);

/** The same in a repository by its names, for a batch that is sent before that is known. */
export const selectVersionByName = (
  db: Database,
  { owner, name }: { owner: string; name: string },
  number: number,
) => versionByName(db, { owner: owner.toLowerCase(), name: name.toLowerCase(), number });

const versionByName = prepare((db, p: Params<{ owner: string; name: string; number: number }>) =>
  selectVersion(db, idOfNamed(p.owner, p.name), p.number),
);

/** Bytes of a hash that tell the versions of a conversation apart. */
const VERSION_BYTES = 12;

/** A short text that differs from that of each other version. */
export async function toVersion({ facts }: Pick<VersionRow, "facts">): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(facts));
  return formatHex(new Uint8Array(digest, 0, VERSION_BYTES));
}
