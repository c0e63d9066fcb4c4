import { and, eq, ne, or, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { isBlockedBy, unlessBlocked, asBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { allOf, isViolation, onlyWhile } from "../../db/db.ts";
import { issues } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { assigneeStatements, asUnassignable } from "./change-assignees.ts";
import { deadlineStatements } from "./change-deadline.ts";
import { asWrongMilestone, milestoneStatements } from "./change-milestone.ts";
import { asOpenBlockers, stateStatements } from "./change-state.ts";
import { eventSubject } from "./event-subject.ts";
import { findAssignees } from "./find-assignees.ts";
import { isIssueWritable, type IssueQueryRow, selectIssues, toIssueContext } from "./find-issue.ts";
import { insertEntries } from "./insert-entry.ts";
import { issueVersionStatements } from "./issue-versions.ts";
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
}

/**
 * Edits an issue or pull request: everything, or nothing if one part is refused. What stays as it was is not told of.
 *
 * @throws Failure `forbidden` for others than the poster and writers, and for a poster whom the owner blocks; `locked` in
 * an archived repository; `malformed` if the body has another version by now; `precondition` for closing one with open
 * blockers; `invalid` for a milestone that is closed or not of the repository, and as `findAssignees`; `not_found` if it
 * was deleted meanwhile.
 */
export async function editIssue(
  ctx: Ctx,
  issue: IssueContext,
  wanted: IssueEdit,
): Promise<IssueContext> {
  requireIssueEdit(ctx, issue);
  const forWriters = isIssueWritable(issue) ? await writerStatements(ctx, issue, wanted) : [];
  try {
    const results = await ctx.db.batch([
      requireUnblocked(ctx, issue),
      ...textStatements(ctx, issue, wanted),
      ...forWriters,
      ...(wanted.isClosed === undefined ? [] : stateStatements(ctx, issue, wanted.isClosed)),
      selectIssues(ctx.db).where(eq(issues.id, issue.row.id)),
    ]);
    const [row] = results[results.length - 1] as unknown as IssueQueryRow[];
    if (!row) throw notFound("issue does not exist");
    return toIssueContext(issue.repo, row);
  } catch (error) {
    throw asRefusal(error);
  }
}

async function writerStatements(
  ctx: Ctx,
  issue: IssueContext,
  { assignees, milestoneId, deadlineAt }: IssueEdit,
): Promise<BatchItem<"sqlite">[]> {
  const users = assignees && (await findAssignees(ctx, issue.repo, issue.row, assignees));
  return [
    ...(users ? assigneeStatements(ctx, issue, users) : []),
    ...(milestoneId === undefined ? [] : milestoneStatements(ctx, issue, milestoneId || null)),
    ...(deadlineAt === undefined ? [] : deadlineStatements(ctx, issue, deadlineAt)),
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
    statements.push(...issueVersionStatements(ctx, issue, body));
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

function asRefusal(error: unknown): unknown {
  if (isViolation(error, "NOT NULL", "issues.content_version")) {
    return malformed("the body was edited meanwhile: content_version is not the current one");
  }
  const refusals = [asOpenBlockers, asUnassignable, asWrongMilestone];
  const refused = refusals.map((as) => as(error)).find((refusal) => refusal !== error);
  return refused ?? asBlocked(error, "issues.number");
}
