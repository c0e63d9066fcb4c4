import { and, eq, ne, or, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { isBlockedBy, unlessBlocked, asBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { allOf, isViolation, onlyWhile } from "../../db/db.ts";
import { issues } from "../../db/schema/index.ts";
import { recordEach, recordIfChanged } from "../../events/record.ts";
import { malformed, notFound, precondition } from "../../lib/failure.ts";
import { type IssueContext, isDraftTitle } from "../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isTooManyLabels, labelStatements, tooManyLabels } from "./assign-labels.ts";
import { assigneeStatements, asUnassignable } from "./change-assignees.ts";
import { deadlineStatements } from "./change-deadline.ts";
import { estimateStatements } from "./change-estimate.ts";
import { asWrongMilestone, milestoneStatements } from "./change-milestone.ts";
import { whenBlockersAllow } from "../blockers/open-blockers.ts";
import { asOpenBlockers, stateStatements } from "./change-state.ts";
import { hasDraftTitle } from "./draft-title.ts";
import { eventSubject } from "./event-subject.ts";
import { findPossibleAssignees, type PossibleAssignee, toAssignees } from "./find-assignees.ts";
import {
  findIssue,
  isIssueWritable,
  isNumbered,
  type IssueQueryRow,
  selectIssues,
  toIssueContext,
} from "./find-issue.ts";
import { insertEntries } from "./insert-entry.ts";
import { insertBodyVersion, insertOriginal } from "./insert-version.ts";
import { toIssueTitle } from "./issue-title.ts";
import { requireIssueEdit } from "./require-issue-access.ts";

/** What an edit changes. Undefined leaves a property as it is. */
export interface IssueEdit {
  /** An empty title leaves it as it is, as in Gitea. */
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly ref?: string | undefined;
  readonly isClosed?: boolean | undefined;
  /** The version of the body that the edit is based on. */
  readonly contentVersion?: number | undefined;
  /** These are honoured for callers who may write to the unit only, and ignored for others. */
  readonly assignees?: readonly string[] | undefined;
  /** 0 for none. */
  readonly milestoneId?: number | undefined;
  readonly deadlineAt?: number | null | undefined;
  /** In seconds, 0 for none. */
  readonly estimateSeconds?: number | undefined;
  /** Those that replace all labels. */
  readonly labelIds?: readonly number[] | undefined;
}

/**
 * Edits an issue or pull request that the caller may see: everything, or nothing if one part is refused. What stays as it was is not told of.
 *
 * @throws Failure `forbidden` for others than the poster and writers, and for a poster whom the owner blocks; `locked` in
 * an archived repository; `malformed` if the body has another version by now; `precondition` for closing one with open
 * blockers, and for another state of a merged pull request; `invalid` for a milestone that is closed or not of the repository, and as `toAssignees`; `not_found` also if
 * it was deleted meanwhile.
 */
export async function editIssue(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  wanted: IssueEdit,
): Promise<IssueContext> {
  const posterId = sql`(
    select ${issues.posterId} from ${issues} where ${isNumbered(repo.row.id, number)}
  )`;
  const [issue, possible] = await Promise.all([
    findIssue(ctx, repo, number),
    findPossibleAssignees(ctx, repo, posterId, wanted.assignees ?? []),
  ]);
  return whenBlockersAllow(ctx, issue.row.id, async (closedElsewhere) => {
    const statements = editStatements(ctx, issue, wanted, { possible, closedElsewhere });
    try {
      const results = await ctx.db.batch([
        ...statements,
        selectIssues(ctx.db).where(eq(issues.id, issue.row.id)),
      ]);
      const [row] = results[results.length - 1] as unknown as IssueQueryRow[];
      if (!row) throw notFound("issue does not exist");
      return toIssueContext(issue.repo, row);
    } catch (error) {
      throw asEditRefusal(error);
    }
  });
}

/** What an edit needs to know besides the issue. */
interface EditFacts {
  readonly possible: readonly PossibleAssignee[];
  /** As in `mustWait`. */
  readonly closedElsewhere: readonly number[];
}

/**
 * The statements of an edit, for its batch. A failed batch is judged by `asEditRefusal`.
 *
 * @throws Failure as `editIssue`, as far as it is known without the batch.
 */
export function editStatements(
  ctx: Ctx,
  issue: IssueContext,
  wanted: IssueEdit,
  { possible, closedElsewhere }: EditFacts,
) {
  requireIssueEdit(ctx, issue);
  if (wanted.isClosed !== undefined && isMerged(issue)) {
    throw precondition("cannot change state of this pull request, it was already merged");
  }
  return [
    requireUnblocked(ctx, issue),
    ...textStatements(ctx, issue, wanted),
    ...(isIssueWritable(issue) ? writerStatements(ctx, issue, wanted, possible) : []),
    ...(wanted.isClosed === undefined
      ? []
      : stateStatements(ctx, issue, wanted.isClosed, { closedElsewhere })),
  ] as const;
}

const isMerged = ({ pull }: IssueContext): boolean => pull !== undefined && pull.mergedAt !== null;

function writerStatements(
  ctx: Ctx,
  issue: IssueContext,
  { assignees, milestoneId, deadlineAt, estimateSeconds, labelIds }: IssueEdit,
  possible: readonly PossibleAssignee[],
): BatchItem<"sqlite">[] {
  const unit = issue.row.isPull ? "pulls" : "issues";
  const users = assignees && toAssignees(unit, assignees, possible);
  return [
    ...(users ? assigneeStatements(ctx, issue, users) : []),
    ...(milestoneId === undefined ? [] : milestoneStatements(ctx, issue, milestoneId || null)),
    ...(deadlineAt === undefined ? [] : deadlineStatements(ctx, issue, deadlineAt)),
    ...(labelIds === undefined
      ? []
      : labelStatements(ctx, eventSubject(issue), { kind: "replace", wanted: { ids: labelIds } })),
    ...(estimateSeconds === undefined ? [] : estimateStatements(ctx, issue, estimateSeconds)),
  ];
}

/** The statement that fails if the owner blocks the caller. It changes nothing. */
function requireUnblocked({ db, actor }: Ctx, { repo, row }: IssueContext) {
  const isBlocked = isBlockedBy(sql`${actor.user?.id ?? 0}`, sql`${repo.row.ownerId}`);
  return db
    .update(issues)
    .set({ number: unlessBlocked(isBlocked, sql<number>`number`) })
    .where(eq(issues.id, row.id));
}

/** The statements that change title, body and ref, with the former texts, the entries and the event. */
function textStatements(ctx: Ctx, issue: IssueContext, wanted: IssueEdit): BatchItem<"sqlite">[] {
  const { id: issueId, repoId } = issue.row;
  const { body, ref, contentVersion } = wanted;
  const title = wanted.title === undefined ? "" : toIssueTitle(wanted.title);
  const isThis = eq(issues.id, issueId);
  const entry = { repoId, issueId };
  const statements: BatchItem<"sqlite">[] = [];
  const changes: (SQL | undefined)[] = [];
  if (title !== "") {
    const isOther = ne(issues.title, title);
    changes.push(isOther);
    statements.push(
      insertEntries(
        ctx,
        { kind: "change_title", ...entry, oldValue: issues.title, newValue: title },
        sql`from ${issues} where ${and(isThis, isOther)}`,
      ),
      ...(issue.row.isPull && !isDraftTitle(title) ? [recordReady(ctx, issue)] : []),
    );
  }
  if (ref !== undefined) {
    const isOther = ne(issues.ref, ref);
    changes.push(isOther);
    statements.push(
      insertEntries(
        ctx,
        { kind: "change_issue_ref", ...entry, oldValue: issues.ref, newValue: ref },
        sql`from ${issues} where ${and(isThis, isOther)}`,
      ),
    );
  }
  if (body !== undefined) {
    changes.push(ne(issues.body, body));
    const isEdited = and(isThis, ne(issues.body, body));
    statements.push(
      insertOriginal(ctx, { issueId, entryId: null }, isEdited),
      insertBodyVersion(ctx, issueId, body, isEdited),
    );
  }
  // The version is compared also where nothing changes.
  if (contentVersion !== undefined) changes.push(ne(issues.contentVersion, contentVersion));
  if (changes.length === 0) return [];
  const version = sql<number>`content_version + ${
    body === undefined ? sql`0` : sql`(${ne(issues.body, body)})`
  }`;
  const isCurrent = sql`content_version = ${contentVersion}`;
  return [
    ...statements,
    ctx.db
      .update(issues)
      .set({
        ...(title !== "" && { title }),
        ...(ref !== undefined && { ref }),
        ...(body !== undefined && { body }),
        contentVersion: contentVersion === undefined ? version : onlyWhile(isCurrent, version),
        updatedAt: ctx.now,
      })
      .where(allOf(isThis, or(...changes))),
    recordIfChanged(ctx, {
      type: "issue.edited",
      ...eventSubject(issue),
      from: {
        ...(title !== "" && title !== issue.row.title && { title: issue.row.title }),
        ...(body !== undefined && body !== issue.row.body && { body: issue.row.body }),
        ...(ref !== undefined && ref !== issue.row.ref && { ref: issue.row.ref }),
      },
    }),
  ];
}

/** The statement that tells that a pull request is no draft any more, before its title changes. */
function recordReady(ctx: Ctx, { repo, row }: IssueContext) {
  const { id: issueId, repoId, number } = row;
  return recordEach(
    ctx,
    { type: "pull.ready", repoId, ownerId: repo.row.ownerId, issueId, number },
    sql`from ${issues} where ${issues.id} = ${issueId} and ${hasDraftTitle}`,
  );
}

/** What a failed batch with `editStatements` means for the caller. */
export function asEditRefusal(error: unknown): unknown {
  if (isViolation(error, "NOT NULL", "issues.content_version")) {
    return malformed("the body was edited meanwhile: content_version is not the current one");
  }
  // The issue, or an account that it is assigned to, was deleted meanwhile.
  if (isViolation(error, "FOREIGN KEY")) return notFound("issue does not exist");
  if (isTooManyLabels(error)) return tooManyLabels();
  const refusals = [asOpenBlockers, asUnassignable, asWrongMilestone];
  const refused = refusals.map((as) => as(error)).find((refusal) => refusal !== error);
  return refused ?? asBlocked(error, "issues.number");
}
