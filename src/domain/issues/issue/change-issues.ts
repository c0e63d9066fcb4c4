import { asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { requireAccess } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, type Database } from "../../../db/db.ts";
import { hasOpenBlockers } from "../../../db/open-blockers.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, repositories, type User } from "../../../db/schema/index.ts";
import { invalid, precondition } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoriesById } from "../../repos/repository/find-repository.ts";
import { labelStatements } from "./assign-labels.ts";
import { addedAssigneeStatements, removedAssigneeStatements } from "./change-assignees.ts";
import { asEditRefusal, editStatements, unlessOwnerBlocks } from "./edit-issue.ts";
import { requireUsableLabels } from "./change-labels.ts";
import { eventSubject } from "./event-subject.ts";
import { ASSIGNEES_MAX, findPossibleAssignees, toAssignees } from "./find-assignees.ts";
import {
  isIssueVisible,
  isIssueWritable,
  selectIssues,
  toIssueContext,
  toIssueContexts,
  unitOf,
} from "./find-issue.ts";
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
 * Cost: two round trips of the database, of up to three calls and one.
 *
 * @throws Failure `not_found` and `forbidden` for callers who may not write to the unit; `locked` in
 *   an archived repository; `invalid` for more than 50, for a label or milestone that is not of
 *   the repository or is closed, and as `toAssignees`; `precondition` where one of the issues does not exist, for
 *   closing those with open blockers and for reopening merged ones, which it names.
 */
export async function changeIssues(
  ctx: Ctx,
  repo: RepositoryContext,
  { isPull, numbers }: NamedIssues,
  change: IssuesChange,
): Promise<void> {
  requireAccess(repo, { unit: unitOf({ isPull }), mode: "write" });
  requireNotArchived(repo);
  requireNumber(numbers);
  const labelIds = change.kind === "label" ? [change.labelId] : [];
  const added = change.kind === "assignee" && change.isAdded ? [change.name] : [];
  const [found, possible] = await Promise.all([
    batch(ctx.db, namedIssues(ctx.db, { repoId: repo.row.id, isPull, numbers: [...numbers] })),
    // Blocks between an assignee and each poster are checked by the statements.
    findPossibleAssignees(ctx, repo, { id: null }, added),
    requireUsableLabels(ctx, repo, labelIds),
  ]);
  const list = found.rows.map((row) => toIssueContext(repo, row));
  const present = new Set(list.map(({ row }) => row.number));
  const absent = numbers.filter((number) => !present.has(number)).map((number) => `#${number}`);
  if (absent.length > 0) throw unchanged("these do not exist any more", absent);
  requirePossible(list, found.blocked, change, nameInRepository);
  const [assignee] = toAssignees(isPull ? "pulls" : "issues", added, possible);
  await store(ctx, list, change, assignee);
}

/**
 * Closes or reopens several issues and pull requests, of any repositories: all, or none if one
 * refuses it, as `changeIssues` does.
 *
 * Cost: two round trips of the database.
 *
 * @throws Failure `invalid` as `changeIssues`; `precondition` for what it refuses, for those to
 *   which the caller may not write, and where the caller sees one of them no more.
 */
export async function changeStates(
  ctx: Ctx,
  ids: readonly number[],
  isClosed: boolean,
): Promise<void> {
  requireNumber(ids);
  const asked = { principal: principalOf(ctx.actor), ids: [...ids] };
  const { rows, repos, blocked } = await batch(ctx.db, identifiedIssues(ctx.db, asked));
  const list = toIssueContexts(toRepositoriesById(ctx.actor, repos), rows).filter(({ repo, row }) =>
    isIssueVisible(repo, row),
  );
  if (list.length !== new Set(ids).size) {
    throw unchanged("one of them does not exist any more");
  }
  const refuse = refuser(list, nameOf);
  refuse(({ repo }) => repo.row.archivedAt !== null, "these are in archived repositories");
  refuse(
    (issue) => !isIssueWritable(issue) || !isUnitOn(issue.repo.row, unitOf(issue.row)),
    "you may not change these",
  );
  const change: IssuesChange = { kind: "state", isClosed };
  requirePossible(list, blocked, change, nameOf);
  await store(ctx, list, change, undefined);
}

function requireNumber(selected: readonly number[]): void {
  if (selected.length === 0) throw invalid("Nothing is selected.");
  if (selected.length > CHANGED_ISSUES_MAX) {
    throw invalid(`At most ${CHANGED_ISSUES_MAX} can be changed at once.`);
  }
}

async function store(
  ctx: Ctx,
  list: readonly IssueContext[],
  change: IssuesChange,
  assignee: User | undefined,
): Promise<void> {
  try {
    await batch(ctx.db, {
      changes: list.flatMap((issue) => statementsOf(ctx, issue, change, assignee)),
    });
  } catch (error) {
    throw asEditRefusal(error);
  }
}

const nameInRepository = ({ row }: IssueContext): string => `#${row.number}`;

const nameOf = ({ repo, row }: IssueContext): string =>
  `${repo.owner.name}/${repo.row.name}#${row.number}`;

const unchanged = (reason: string, names: readonly string[] = []) =>
  precondition(
    `Nothing is changed, since ${reason}${names.length === 0 ? "" : `: ${names.join(", ")}`}`,
  );

/** A function that refuses those of a list for a reason, and names them. */
const refuser =
  (list: readonly IssueContext[], toName: (issue: IssueContext) => string) =>
  (isRefused: (issue: IssueContext) => boolean, reason: string): void => {
    const names = list.filter(isRefused).map(toName);
    if (names.length > 0) throw unchanged(reason, names);
  };

/**
 * Refuses a change that some of the issues can't have, and names them.
 *
 * @param blocked Those with open blockers.
 */
function requirePossible(
  list: readonly IssueContext[],
  blocked: readonly { readonly id: number }[],
  change: IssuesChange,
  toName: (issue: IssueContext) => string,
): void {
  const refuse = refuser(list, toName);
  if (change.kind === "state") {
    const waiting = new Set(change.isClosed ? blocked.map(({ id }) => id) : []);
    refuse(
      ({ repo, row }) =>
        repo.row.issueSettings.enableIssueDependencies && !row.isClosed && waiting.has(row.id),
      "open ones are in the way of",
    );
    refuse(({ pull }) => pull !== undefined && pull.mergedAt !== null, "these are merged");
  }
  if (change.kind === "assignee" && change.isAdded) {
    refuse(
      ({ assignees }) => assignees.length >= ASSIGNEES_MAX,
      `these have ${ASSIGNEES_MAX} assignees`,
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
    blocked: selectBlocked(db, isNamed),
  };
});

const selectBlocked = (db: Database, isNamed: SQL) =>
  db
    .select({ id: issues.id })
    .from(issues)
    .where(allOf(isNamed, hasOpenBlockers(sql`${issues.id}`)));

interface IdentifiedIssues {
  readonly principal: Principal;
  readonly ids: readonly number[];
}

const identifiedIssues = prepareAll((db, { principal, ids }: Params<IdentifiedIssues>) => {
  const isIdentified = inArray(issues.id, ids);
  return {
    rows: selectIssues(db).where(isIdentified).orderBy(asc(issues.id)),
    repos: selectRepositories(db, toCallerSql(principal)).where(
      sql`${repositories.id} in (select ${issues.repoId} from ${issues} where ${isIdentified})`,
    ),
    blocked: selectBlocked(db, isIdentified),
  };
});
