import { and, eq, isNull, type SQL, sql } from "drizzle-orm";

import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import type { Database } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  issues,
  type MergeKind,
  pulls,
  type Repository,
  scheduledMerges,
  timelineEntries,
  users,
} from "../../../db/schema/index.ts";
import { type EventOrigin, recordIfChangedSince } from "../../../events/record.ts";
import type { PushedMerge } from "../../../storage/repository-records.ts";

/** A merge to record: made by a push, or found in the base. */
export interface RecordedMerge extends Omit<PushedMerge, "kind"> {
  readonly kind: MergeKind;
  /** Whether nothing may follow from it in other repositories. */
  readonly isConfined: boolean;
  /** By default when it is recorded, in milliseconds. */
  readonly mergedAt?: number;
}

/** The merger and the time, if the merge itself has none. */
type MergeOrigin = EventOrigin & { readonly db: Database };

/**
 * The statements that mark a pull request as merged: its row, which is fixed from then on, its
 * state, the entry of its timeline, the event, and the end of a scheduled merge.
 *
 * They write nothing if it is marked as merged already, or does not exist any more, so that they
 * may be repeated. They need nothing but the push and its repository, so that a job runs them where
 * the Worker died after the push.
 */
export function mergeStatements(
  origin: MergeOrigin,
  { id: repoId, ownerId }: Pick<Repository, "id" | "ownerId">,
  merge: RecordedMerge,
) {
  const { db, now } = origin;
  const { mergerId: actorId = origin.actorId } = merge;
  const { issueId, number, kind, commitOid, baseOid, mergeBaseOid, isAutomatic } = merge;
  const { isConfined, isBranchDeleted } = merge;
  const { merged, entry, closed, unscheduled } = storeMerge(db, {
    issueId,
    repoId,
    actorId,
    mergedAt: merge.mergedAt ?? now,
    merge: boundRow(pulls, {
      mergeCommitOid: commitOid,
      mergedBaseOid: baseOid,
      mergeBaseOid,
      mergeKind: kind,
    }),
    now,
  });
  return [
    merged,
    entry,
    recordIfChangedSince(
      { ...origin, actorId },
      {
        type: "pull.merged",
        repoId,
        ownerId,
        issueId,
        number,
        mergeCommitOid: commitOid,
        mergeKind: kind,
        isAutomatic,
        ...(isBranchDeleted && { isBranchDeleted }),
        ...(isConfined && { isConfined }),
      },
    ),
    closed,
    unscheduled,
  ] as const;
}

interface StoredMerge {
  readonly issueId: number;
  readonly repoId: number;
  readonly actorId: number;
  readonly mergedAt: number;
  readonly merge: BoundRow<
    Pick<
      typeof pulls.$inferInsert,
      "mergeCommitOid" | "mergedBaseOid" | "mergeBaseOid" | "mergeKind"
    >
  >;
  readonly now: number;
}

const storeMerge = prepareAll((db, p: Params<StoredMerge>) => {
  const { issueId, repoId, now } = p;
  // The account may have been deleted since.
  const merger: SQL<number> = sql`(
    select ${users.id} from ${users} where ${users.id} = ${p.actorId}
  )`;
  return {
    merged: db
      .update(pulls)
      .set({ mergedAt: p.mergedAt, mergerId: merger, ...p.merge })
      .where(and(eq(pulls.issueId, issueId), isNull(pulls.mergedAt)))
      .returning({ issueId: pulls.issueId }),
    entry: insertSelect(
      db,
      timelineEntries,
      { kind: "merge_pull", repoId, issueId, posterId: merger, createdAt: now, updatedAt: now },
      sql`where changes() > 0`,
    ),
    closed: db
      .update(issues)
      .set({ isClosed: true, closedAt: now, updatedAt: now })
      .where(
        and(
          eq(issues.id, issueId),
          eq(issues.isClosed, false),
          sql`exists (
            select 1 from ${pulls}
            where ${pulls.issueId} = ${issueId} and ${pulls.mergedAt} is not null
          )`,
        ),
      ),
    unscheduled: db.delete(scheduledMerges).where(eq(scheduledMerges.issueId, issueId)),
  };
});
