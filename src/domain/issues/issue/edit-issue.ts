import { and, eq, ne, or, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { isBlockedBy, unlessBlocked, asBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { issues, timelineEntries } from "../../../db/schema/index.ts";
import {
  eventArgument,
  type EventArgument,
  recordBy,
  recordIfChanged,
} from "../../../events/record.ts";
import { conflict, malformed, notFound, precondition } from "../../../lib/failure.ts";
import { type IssueContext, isDraftTitle } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { claimUploads } from "../uploads/claim-uploads.ts";
import { isTooManyLabels, labelStatements, tooManyLabels } from "./assign-labels.ts";
import { assigneeStatements, asUnassignable } from "./change-assignees.ts";
import { deadlineStatements } from "./change-deadline.ts";
import { estimateStatements } from "./change-estimate.ts";
import { asWrongMilestone, milestoneStatements } from "./change-milestone.ts";
import { asOpenBlockers, stateStatements } from "./change-state.ts";
import { hasDraftTitle } from "./draft-title.ts";
import { eventSubject } from "./event-subject.ts";
import { findPossibleAssignees, type PossibleAssignee, toAssignees } from "./find-assignees.ts";
import { findIssue, isIssueWritable, issueById, toIssueContext } from "./find-issue.ts";
import { entryArgument, type EntryArgument } from "./insert-entry.ts";
import {
  editArgument,
  type EditArgument,
  insertOriginal,
  insertVersion,
} from "./insert-version.ts";
import { toIssueTitle } from "./issue-title.ts";
import { requireIssueEdit } from "./require-issue-access.ts";

/** The changes of an edit. Undefined leaves a property as it is. */
export interface IssueEdit {
  /** An empty title leaves it as it is, as in Gitea. */
  readonly title?: string | undefined;
  /** The title that the edit replaces; by default the present one. */
  readonly formerTitle?: string | undefined;
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
  /** The labels that replace all others. */
  readonly labelIds?: readonly number[] | undefined;
}

/**
 * Edits an issue or pull request that the caller may see: everything, or nothing if one part is
 * refused. Properties that stay as they are have no entry and no event.
 *
 * @throws Failure `forbidden` for others than the poster and writers, and for a poster whom the
 * owner blocks; `locked` in an archived repository; `malformed` if the body has another version by
 * now; `conflict` if it has another title by now; `precondition` for closing one with open
 * blockers, and for another state of a merged pull request; `invalid` for a milestone that is
 * closed or not of the repository, and as `toAssignees`; `not_found` also if it was deleted
 * meanwhile.
 */
export async function editIssue(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  edit: IssueEdit,
): Promise<IssueContext> {
  const [issue, possible] = await Promise.all([
    findIssue(ctx, repo, number),
    findPossibleAssignees(ctx, repo, { number }, edit.assignees ?? []),
  ]);
  const statements = editStatements(ctx, issue, edit, possible);
  try {
    const found = issueById(ctx.db, { id: issue.row.id });
    const [row] = (await batch(ctx.db, { edit: statements, found })).found;
    if (!row) throw notFound("issue does not exist");
    return toIssueContext(issue.repo, row);
  } catch (error) {
    throw asEditRefusal(error);
  }
}

/**
 * The statements of an edit, for its batch. `asEditRefusal` translates the error of a failed batch.
 *
 * @throws Failure as `editIssue`, as far as it is known without the batch.
 */
export function editStatements(
  ctx: Ctx,
  issue: IssueContext,
  edit: IssueEdit,
  possible: readonly PossibleAssignee[],
) {
  requireIssueEdit(ctx, issue);
  if (edit.isClosed !== undefined && isMerged(issue)) {
    throw precondition("cannot change state of this pull request, it was already merged");
  }
  return [
    unlessOwnerBlocks(ctx, issue),
    ...textStatements(ctx, issue, edit),
    ...(isIssueWritable(issue) ? writerStatements(ctx, issue, edit, possible) : []),
    ...(edit.isClosed === undefined ? [] : stateStatements(ctx, issue, edit.isClosed)),
    ...claimUploads(ctx, { repoId: issue.row.repoId, issueId: issue.row.id }, edit.body ?? ""),
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
      : labelStatements(ctx, eventSubject(issue), { kind: "replace", labels: { ids: labelIds } })),
    ...(estimateSeconds === undefined ? [] : estimateStatements(ctx, issue, estimateSeconds)),
  ];
}

/** The statement that fails if the owner blocks the caller. It changes nothing. */
export const unlessOwnerBlocks = ({ db, actor }: Ctx, { repo, row }: IssueContext) =>
  renumber(db, { issueId: row.id, actorId: actor.user?.id ?? 0, ownerId: repo.row.ownerId });

const renumber = prepare((db, p: Params<{ issueId: number; actorId: number; ownerId: number }>) =>
  db
    .update(issues)
    .set({ number: unlessBlocked(isBlockedBy(p.actorId, p.ownerId), sql<number>`number`) })
    .where(eq(issues.id, p.issueId)),
);

/**
 * The statements that change title, body and ref, with the former texts, the entries and the event.
 */
function textStatements(ctx: Ctx, issue: IssueContext, edit: IssueEdit): BatchItem<"sqlite">[] {
  const { db } = ctx;
  const { id: issueId, repoId } = issue.row;
  const { body, ref, contentVersion, formerTitle } = edit;
  const title = edit.title === undefined ? "" : toIssueTitle(edit.title);
  const entry = { repoId, issueId, ...entryArgument(ctx) };
  const statements: BatchItem<"sqlite">[] = [];
  if (title !== "") {
    statements.push(
      insertTextEntry(db, { entry, value: title }, { text: "title" }),
      ...(issue.row.isPull && !isDraftTitle(title) ? [recordReady(ctx, issue)] : []),
    );
  }
  if (ref !== undefined) {
    statements.push(insertTextEntry(db, { entry, value: ref }, { text: "ref" }));
  }
  if (body !== undefined) {
    statements.push(...insertVersions(db, { issueId, edit: editArgument(ctx, body) }));
  }
  const texts = { ...(title !== "" && { title }), ref, body, contentVersion };
  if (Object.values(texts).every((text) => text === undefined)) return [];
  return [
    ...statements,
    updateTexts(db, { issueId, ...texts, formerTitle, now: ctx.now }),
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

/** The texts of an issue whose changes have entries in the timeline. */
const LISTED_TEXTS = {
  title: { kind: "change_title", column: issues.title },
  ref: { kind: "change_issue_ref", column: issues.ref },
} as const;

interface TextEntry {
  readonly entry: EntryArgument & { readonly repoId: number; readonly issueId: number };
  readonly value: string;
}

const insertTextEntry = prepare(
  (db, { entry, value }: Params<TextEntry>, { text }: { text: keyof typeof LISTED_TEXTS }) => {
    const { kind, column } = LISTED_TEXTS[text];
    return insertSelect(
      db,
      timelineEntries,
      { kind, ...entry, oldValue: column, newValue: value },
      sql`from ${issues} where ${and(eq(issues.id, entry.issueId), ne(column, value))}`,
    );
  },
);

const insertVersions = prepareAll(
  (db, { issueId, edit }: Params<{ issueId: number; edit: EditArgument }>) => {
    const isEdited = and(eq(issues.id, issueId), ne(issues.body, edit.body));
    return [
      insertOriginal(db, { issueId, entryId: null }, isEdited),
      insertVersion(db, { issueId, entryId: null }, edit, sql`from ${issues} where ${isEdited}`),
    ] as const;
  },
);

interface NewTexts {
  readonly issueId: number;
  readonly title?: string | undefined;
  readonly formerTitle?: string | undefined;
  readonly ref?: string | undefined;
  readonly body?: string | undefined;
  readonly contentVersion?: number | undefined;
  readonly now: number;
}

const updateTexts = prepare((db, p: Params<NewTexts>) => {
  const { title, formerTitle, ref, body, contentVersion } = p;
  const isOtherBody = body && ne(issues.body, body);
  const changes = [
    title && ne(issues.title, title),
    ref && ne(issues.ref, ref),
    isOtherBody,
    // The version is compared also where nothing changes.
    contentVersion && ne(issues.contentVersion, contentVersion),
  ];
  const increment = isOtherBody ? sql`(${isOtherBody})` : sql`0`;
  const version = sql<number>`${issues.contentVersion} + ${increment}`;
  const isCurrent = sql`${issues.contentVersion} = ${contentVersion}`;
  return db
    .update(issues)
    .set({
      ...(title && {
        title: formerTitle ? onlyWhile(eq(issues.title, formerTitle), sql`${title}`) : title,
      }),
      ...(ref && { ref }),
      ...(body && { body }),
      contentVersion: contentVersion ? onlyWhile(isCurrent, version) : version,
      updatedAt: p.now,
    })
    .where(allOf(eq(issues.id, p.issueId), or(...changes)));
});

/** The event that a pull request is no draft any more, before its title changes. */
function recordReady(ctx: Ctx, { repo, row }: IssueContext) {
  const { id: issueId, repoId, number } = row;
  const { ownerId } = repo.row;
  const event = eventArgument(ctx, { type: "pull.ready", repoId, ownerId, issueId, number });
  return recordIfDraft(ctx.db, { issueId, event });
}

const recordIfDraft = prepare((db, p: Params<{ issueId: number; event: EventArgument }>) =>
  recordBy(
    db,
    p.event,
    {},
    sql`from ${issues} where ${issues.id} = ${p.issueId} and ${hasDraftTitle}`,
  ),
);

/** Translates the error of a failed batch with `editStatements`. */
export function asEditRefusal(error: unknown): unknown {
  if (isViolation(error, "NOT NULL", "issues.content_version")) {
    return malformed("the body was edited meanwhile: content_version is not the current one");
  }
  if (isViolation(error, "NOT NULL", "issues.title")) {
    return conflict("somebody else has changed the title meanwhile");
  }
  // The issue, or an account that it is assigned to, was deleted meanwhile.
  if (isViolation(error, "FOREIGN KEY")) return notFound("issue does not exist");
  if (isTooManyLabels(error)) return tooManyLabels();
  const refusals = [asOpenBlockers, asUnassignable, asWrongMilestone];
  const refused = refusals.map((as) => as(error)).find((refusal) => refusal !== error);
  return refused ?? asBlocked(error, "issues.number");
}
