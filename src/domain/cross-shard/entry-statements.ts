import { sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  crossShardEntries,
  crossShardReferences,
  type RefAction,
  type TimelineKind,
} from "../../db/schema/index.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { insertEntryIfChanged } from "../issues/insert-entry.ts";

type Subject = Pick<IssueContext, "repo" | "row">;

const IF_CHANGED = sql`where changes() > 0`;

/**
 * The statements that add an entry about an issue of another database to the timeline of an issue of this one, if the previous
 * statement of the batch changed a row.
 */
export const insertEntryAboutIfChanged = (
  ctx: Ctx,
  kind: TimelineKind,
  { row }: Subject,
  other: Subject,
) => [
  insertEntryIfChanged(ctx, { kind, repoId: row.repoId, issueId: row.id }),
  insertSelect(
    ctx.db,
    crossShardReferences,
    {
      entryId: sql`last_insert_rowid()`,
      repoId: other.row.repoId,
      issueId: other.row.id,
      isPull: other.row.isPull,
    },
    IF_CHANGED,
  ),
];

/** An entry about an issue or a comment of this database, for the timeline of an issue of another one. */
export interface SentEntry {
  readonly kind: TimelineKind;
  readonly subject: Pick<IssueContext["row"], "id" | "repoId" | "isPull">;
  /** Undefined for the issue itself. */
  readonly commentId?: number | undefined;
  readonly to: Pick<IssueContext["row"], "id" | "repoId" | "number">;
  readonly refAction?: RefAction;
}

/**
 * The statement that stores an entry which is to be sent, in the batch of what it tells of. `sendEntries` sends it.
 *
 * @param from The clauses after the selected values; by default for a previous statement that changed a row.
 */
export const storeEntry = (
  { db, actor, now }: Ctx,
  { kind, subject, commentId, to, refAction = "none" }: SentEntry,
  from: SQL = IF_CHANGED,
) =>
  insertSelect(
    db,
    crossShardEntries,
    {
      repoId: subject.repoId,
      issueId: subject.id,
      isPull: subject.isPull,
      commentId: commentId ?? null,
      toRepoId: to.repoId,
      toIssueId: to.id,
      toNumber: to.number,
      kind,
      refAction,
      posterId: actor.user?.id ?? null,
      dueAt: now,
      createdAt: now,
    },
    from,
  );
