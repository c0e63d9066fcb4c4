import { asc, eq, inArray, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { requireAccess } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { hasOpenBlockers } from "../../../db/open-blockers.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, type User } from "../../../db/schema/index.ts";
import { invalid, notFound, precondition } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { labelStatements } from "./assign-labels.ts";
import { addedAssigneeStatements, removedAssigneeStatements } from "./change-assignees.ts";
import { asEditRefusal, editStatements, unlessOwnerBlocks } from "./edit-issue.ts";
import { eventSubject } from "./event-subject.ts";
import { ASSIGNEES_MAX, findPossibleAssignees, toAssignees } from "./find-assignees.ts";
import { selectIssues, toIssueContext, unitOf } from "./find-issue.ts";
import { requireNotArchived } from "./require-issue-access.ts";

/** Maximum issues that one call changes. */
const CHANGED_ISSUES_MAX = 50;

/** A change that is made to several issues. */
export type IssuesChange =
  | { readonly kind: "state"; readonly isClosed: boolean }
  | { readonly kind: "label"; readonly labelId: number; readonly isAdded: boolean }
  /** 0 for none. */
  | { readonly kind: "milestone"; readonly milestoneId: number }
  | { readonly kind: "assignee"; readonly name: string; readonly isAdded: boolean };

/** Issues, or pull requests, of a repository. */
interface NamedIssues {
  readonly isPull: boolean;
  readonly numbers: readonly number[];
}

/**
 * Makes one change to several issues, or pull requests, of a repository: to all, or to none if one
 * refuses it. Each gets its entry of the timeline and its event, as by an edit of its own; one that
 * is so already gets none.
 *
 * Cost: two round trips of the database, of two calls and one.
 *
 * @throws Failure `not_found` and `forbidden` for callers who may not write to the unit, and where
 *   one of the issues does not exist; `locked` in an archived repository; `invalid` for more than
 *   50, for a milestone that is closed or not of the repository, and as `toAssignees`;
 *   `precondition` for closing those with open blockers and for reopening merged ones, which it
 *   names.
 */
export async function changeIssues(
  ctx: Ctx,
  repo: RepositoryContext,
  { isPull, numbers }: NamedIssues,
  change: IssuesChange,
): Promise<void> {
  requireAccess(repo, { unit: unitOf({ isPull }), mode: "write" });
  requireNotArchived(repo);
  if (numbers.length === 0) throw invalid("Nothing is selected.");
  if (numbers.length > CHANGED_ISSUES_MAX) {
    throw invalid(`At most ${CHANGED_ISSUES_MAX} can be changed at once.`);
  }
  const added = change.kind === "assignee" && change.isAdded ? [change.name] : [];
  const [found, possible] = await Promise.all([
    batch(ctx.db, namedIssues(ctx.db, { repoId: repo.row.id, isPull, numbers: [...numbers] })),
    // Blocks between an assignee and each poster are checked by the statements.
    findPossibleAssignees(ctx, repo, { id: null }, added),
  ]);
  const list = found.rows.map((row) => toIssueContext(repo, row));
  if (list.length !== new Set(numbers).size) throw notFound("one of them does not exist");
  requirePossible(repo, list, new Set(found.blocked.map(({ number }) => number)), change);
  const [assignee] = toAssignees(isPull ? "pulls" : "issues", added, possible);
  try {
    await batch(ctx.db, {
      changes: list.flatMap((issue) => statementsOf(ctx, issue, change, assignee)),
    });
  } catch (error) {
    throw asEditRefusal(error);
  }
}

/** Refuses a change that some of the issues can't have, and names them. */
function requirePossible(
  repo: RepositoryContext,
  list: readonly IssueContext[],
  blocked: ReadonlySet<number>,
  change: IssuesChange,
): void {
  const refuse = (isRefused: (issue: IssueContext) => boolean, reason: string): void => {
    const names = list.filter(isRefused).map(({ row }) => `#${row.number}`);
    if (names.length > 0) throw precondition(`${reason}: ${names.join(", ")}`);
  };
  if (change.kind === "state") {
    const isWaiting = change.isClosed && repo.row.issueSettings.enableIssueDependencies;
    if (isWaiting) {
      refuse(
        ({ row }) => !row.isClosed && blocked.has(row.number),
        "Nothing is changed, since open ones are in the way of",
      );
    }
    refuse(
      ({ pull }) => pull !== undefined && pull.mergedAt !== null,
      "Nothing is changed, since these are merged",
    );
  }
  if (change.kind === "assignee" && change.isAdded) {
    refuse(
      ({ assignees }) => assignees.length >= ASSIGNEES_MAX,
      `Nothing is changed, since these have ${ASSIGNEES_MAX} assignees`,
    );
  }
}

/** @param assignee The user who is added. */
function statementsOf(
  ctx: Ctx,
  issue: IssueContext,
  change: IssuesChange,
  assignee: User | undefined,
): readonly BatchItem<"sqlite">[] {
  switch (change.kind) {
    case "state":
      return editStatements(ctx, issue, { isClosed: change.isClosed }, []);
    case "milestone":
      return editStatements(ctx, issue, { milestoneId: change.milestoneId }, []);
    case "label": {
      const { labelId, isAdded } = change;
      return labelStatements(
        ctx,
        eventSubject(issue),
        isAdded ? { kind: "add", labels: { ids: [labelId] } } : { kind: "remove", labelId },
      );
    }
    case "assignee": {
      const lowerName = change.name.toLowerCase();
      const removed = issue.assignees.find((user) => user.lowerName === lowerName);
      if (change.isAdded && assignee) {
        return [unlessOwnerBlocks(ctx, issue), ...addedAssigneeStatements(ctx, issue, assignee)];
      }
      if (change.isAdded || !removed) return [];
      return [unlessOwnerBlocks(ctx, issue), ...removedAssigneeStatements(ctx, issue, removed)];
    }
    default:
      return change satisfies never;
  }
}

interface NumberedIssues {
  readonly repoId: number;
  readonly isPull: boolean;
  readonly numbers: readonly number[];
}

const namedIssues = prepareAll((db, p: Params<NumberedIssues>) => {
  const isNamed = allOf(
    eq(issues.repoId, p.repoId),
    inArray(issues.number, p.numbers),
    eq(issues.isPull, p.isPull),
  );
  return {
    rows: selectIssues(db).where(isNamed).orderBy(asc(issues.number)),
    blocked: db
      .select({ number: issues.number })
      .from(issues)
      .where(allOf(isNamed, hasOpenBlockers(sql`${issues.id}`))),
  };
});
