import { eq, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { asBlocked, isBlockedBy, unlessBlocked } from "../../../auth/access/blocks.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  issues,
  milestones,
  repositories,
  timelineEntries,
  type User,
} from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, IF_CHANGED, recordBy } from "../../../events/record.ts";
import { forbidden, invalid, notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { claimUploads } from "../uploads/claim-uploads.ts";
import { isTooManyLabels, labelStatements, tooManyLabels } from "./assign-labels.ts";
import { assigneeStatements, asUnassignable } from "./change-assignees.ts";
import { findPossibleAssignees, toAssignees } from "./find-assignees.ts";
import { isNumbered, selectIssues, toIssueContext } from "./find-issue.ts";
import { entryArgument, type EntryArgument, insertEntryOnNew } from "./insert-entry.ts";
import { issueSql, newIdIn, newNumberIn } from "./new-issue-id.ts";
import { toIssueTitle } from "./issue-title.ts";
import { mayWriteIssues, requireNotArchived } from "./require-issue-access.ts";

/** The input for a new issue. */
export interface NewIssue {
  readonly title: string;
  readonly body?: string | undefined;
  readonly ref?: string | undefined;
  readonly isClosed?: boolean | undefined;
  /** Names of the labels that the template of the issue gives it: anybody may open it. */
  readonly templateLabels?: readonly string[] | undefined;
  /**
   * A time: the same title and text that the caller has opened an issue with since then are the
   * same issue sent again, whose answer was lost, which is returned instead.
   */
  readonly unlessSince?: number | undefined;
  /**
   * These are honoured for callers who may write to the issues only; others may not set them, and
   * they are ignored.
   */
  readonly assignees?: readonly string[] | undefined;
  readonly labelIds?: readonly number[] | undefined;
  readonly milestoneId?: number | undefined;
  readonly deadlineAt?: number | null | undefined;
}

/**
 * Opens an issue of a repository that the caller may read.
 *
 * Its number is the repository's next one. It is taken in the batch that inserts the issue: a
 * failed creation uses none, and none is used twice. Unknown labels and an unknown or foreign
 * milestone are ignored, as in Gitea.
 *
 * @throws Failure `locked` in an archived repository; `forbidden` while the unit is off, and for
 * callers whom the owner blocks; `invalid` for a closed milestone, and as `toAssignees`;
 * `not_found` if the repository was deleted meanwhile.
 */
export async function createIssue(
  ctx: Ctx,
  repo: RepositoryContext,
  input: NewIssue,
): Promise<IssueContext> {
  requireNotArchived(repo);
  if (!isUnitOn(repo.row, "issues")) throw forbidden("the repository's issues unit is disabled");
  const accepted = mayWriteIssues(repo) ? input : pickForAll(input);
  const assignees = await findNewAssignees(ctx, repo, "issues", accepted.assignees ?? []);
  try {
    const { found } = await batch(ctx.db, {
      opening: openingStatements(ctx, repo, { ...accepted, isPull: false }, assignees),
      found: selectNewIssue(ctx.db, { repoId: repo.row.id }),
    });
    const [row] = found;
    if (!row) throw notFound();
    return toIssueContext(repo, row);
  } catch (error) {
    const [same] = isRepeated(error) ? await sameIssue(ctx.db, sentAgain(ctx, repo, input)) : [];
    if (same) return toIssueContext(repo, same);
    throw asOpeningRefusal(error);
  }
}

/** Whether a batch failed since the issue was opened before. */
const isRepeated = (error: unknown): boolean => isViolation(error, "NOT NULL", "issues.ref");

interface SentAgain {
  readonly repoId: number;
  readonly posterId: number | null;
  readonly title: string;
  readonly body: string;
  readonly since: number;
}

const sentAgain = (
  { actor }: Ctx,
  { row }: RepositoryContext,
  { title, body = "", unlessSince = 0 }: NewIssue,
): SentAgain => ({
  repoId: row.id,
  posterId: actor.user?.id ?? null,
  title: toIssueTitle(title),
  body,
  since: unlessSince,
});

/** Selects the id of the issue that was opened with the same text. */
const sameIssueId = (p: Params<SentAgain>): SQL => sql`(
  select max(${issues.id})
  from ${issues}
  where ${issues.repoId} = ${p.repoId}
    and ${issues.posterId} = ${p.posterId}
    and ${issues.createdAt} >= ${p.since}
    and ${issues.title} = ${p.title}
    and ${issues.body} = ${p.body}
)`;

const sameIssue = prepare((db, p: Params<SentAgain>) =>
  selectIssues(db).where(sql`${issues.id} = ${sameIssueId(p)}`),
);

/** The input for a new issue, or for the issue of a new pull request. */
type Opening = NewIssue & { readonly isPull: boolean };

/**
 * The statements that open an issue or pull request, with its entries and events.
 * `asOpeningRefusal` translates the error of a failed batch.
 *
 * @param more Statements that follow the insert, before its entries and events.
 */
export const openingStatements = (
  ctx: Ctx,
  repo: RepositoryContext,
  opening: Opening,
  assignees: readonly User[],
  more: readonly BatchItem<"sqlite">[] = [],
) =>
  [
    takeNumber(ctx.db, { repoId: repo.row.id }),
    insertIssue(ctx.db, {
      row: toRow(ctx, repo, opening),
      actorId: ctx.actor.user?.id ?? 0,
      ownerId: repo.row.ownerId,
      same: opening.unlessSince === undefined ? undefined : sentAgain(ctx, repo, opening),
    }),
    ...more,
    ...entryStatements(ctx, repo, opening, assignees),
    ...claimUploads(
      ctx,
      { repoId: repo.row.id, issueId: newIdIn(repo.row.id) },
      opening.body ?? "",
    ),
  ] as const;

const pickForAll = ({
  title,
  body,
  ref,
  isClosed,
  templateLabels,
  unlessSince,
}: NewIssue): NewIssue => ({ title, body, ref, isClosed, templateLabels, unlessSince });

/**
 * Finds the assignees of a new issue or pull request of the caller. @throws Failure as
 * `toAssignees`.
 */
export async function findNewAssignees(
  ctx: Ctx,
  repo: RepositoryContext,
  unit: "issues" | "pulls",
  names: readonly string[],
): Promise<User[]> {
  const poster = { id: ctx.actor.user?.id ?? 0 };
  return toAssignees(unit, names, await findPossibleAssignees(ctx, repo, poster, names));
}

const takeNumber = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  db
    .update(repositories)
    .set({ lastIssueNumber: sql`${repositories.lastIssueNumber} + 1` })
    .where(eq(repositories.id, repoId)),
);

const selectNewIssue = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  selectIssues(db).where(isNumbered(repoId, newNumberIn(repoId))),
);

/** The columns of a new issue that are known before its batch. */
function toRow({ actor, now }: Ctx, { row }: RepositoryContext, opening: Opening) {
  const { isPull, isClosed = false, body = "", ref = "" } = opening;
  const { milestoneId = 0, deadlineAt = null } = opening;
  return {
    repoId: row.id,
    isPull,
    posterId: actor.user?.id ?? null,
    title: toIssueTitle(opening.title),
    body,
    ref,
    isClosed,
    closedAt: isClosed ? now : null,
    milestoneId,
    deadlineAt,
    createdAt: now,
    updatedAt: now,
  };
}

interface InsertedIssue {
  readonly row: ReturnType<typeof toRow>;
  /** 0 for nobody. */
  readonly actorId: number;
  readonly ownerId: number;
  readonly same: SentAgain | undefined;
}

const insertIssue = prepare((db, { row, actorId, ownerId, same }: Params<InsertedIssue>) => {
  const ofRepository = sql`
    from ${milestones}
    where ${milestones.id} = ${row.milestoneId} and ${milestones.repoId} = ${row.repoId}`;
  const isMilestoneOpen = sql`not exists (select 1 ${ofRepository} and ${milestones.isClosed})`;
  return insertSelect(
    db,
    issues,
    {
      ...row,
      number: newNumberIn(row.repoId),
      title: unlessBlocked(isBlockedBy(actorId, ownerId), row.title),
      body: onlyWhile(isMilestoneOpen, row.body),
      milestoneId: sql`(select ${milestones.id} ${ofRepository})`,
      ...(same && { ref: onlyWhile(sql`${sameIssueId(same)} is null`, row.ref) }),
    },
    sql`where true`,
  );
});

const recordOnNew = prepare((db, p: Params<{ repoId: number; event: EventArgument }>) =>
  recordBy(db, p.event, issueSql({ repoId: p.repoId }).computed),
);

/** The entries and events of a new issue, with the statements for its assignees and labels. */
function entryStatements(
  ctx: Ctx,
  repo: RepositoryContext,
  opening: Opening,
  assignees: readonly User[],
): BatchItem<"sqlite">[] {
  const { id: repoId, ownerId } = repo.row;
  const { isPull } = opening;
  const subject = { repoId, ownerId, issueId: COMPUTED, number: COMPUTED, isPull };
  const { labelIds = [], templateLabels = [], milestoneId = 0, isClosed = false } = opening;
  const opened = eventArgument(ctx, { type: "issue.opened", ...subject });
  const statements: BatchItem<"sqlite">[] = [recordOnNew(ctx.db, { repoId, event: opened })];
  if (assignees.length > 0) {
    const posterId = ctx.actor.user?.id ?? null;
    statements.push(...assigneeStatements(ctx, { repo, row: { isPull, posterId } }, assignees));
  }
  for (const labels of [{ ids: labelIds }, { names: templateLabels }]) {
    if (Object.values(labels).flat().length === 0) continue;
    const change = { kind: "add", labels } as const;
    statements.push(...labelStatements(ctx, { repoId, ownerId, isPull }, change));
  }
  if (milestoneId > 0) {
    const event = eventArgument(ctx, {
      type: "issue.milestoned",
      ...subject,
      milestoneId: COMPUTED,
    });
    statements.push(...milestoneEntry(ctx.db, { repoId, entry: entryArgument(ctx), event }));
  }
  if (isClosed) {
    const closed = eventArgument(ctx, { type: "issue.closed", ...subject, commitOid: "" });
    statements.push(
      insertEntryOnNew(ctx, { kind: "close", repoId }),
      recordOnNew(ctx.db, { repoId, event: closed }),
    );
  }
  return statements;
}

const milestoneEntry = prepareAll(
  (db, p: Params<{ repoId: number; entry: EntryArgument; event: EventArgument }>) => {
    const { repoId } = p;
    const { issueId, computed } = issueSql({ repoId });
    const milestoneId = sql`(
      select ${issues.milestoneId} from ${issues} where ${issues.id} = ${issueId}
    )`;
    return [
      insertSelect(
        db,
        timelineEntries,
        { kind: "milestone", repoId, issueId, ...p.entry, milestoneId: issues.milestoneId },
        sql`from ${issues} where ${issues.id} = ${issueId} and ${issues.milestoneId} is not null`,
      ),
      recordBy(db, p.event, { ...computed, milestoneId }, IF_CHANGED),
    ] as const;
  },
);

/** Translates the error of a failed batch with `openingStatements`. */
export function asOpeningRefusal(error: unknown): unknown {
  // The repository, or the caller's account, was deleted meanwhile.
  if (isViolation(error, "FOREIGN KEY")) return notFound();
  if (isViolation(error, "NOT NULL", "issues.body")) return invalid("the milestone is closed");
  if (isTooManyLabels(error)) return tooManyLabels();
  return asBlocked(asUnassignable(error), "issues.title");
}
