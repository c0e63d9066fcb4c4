import { and, eq, type SQL, sql } from "drizzle-orm";

import { isBlockedBy, unlessBlocked } from "../../../auth/access/blocks.ts";
import { type Reach, reachesBy, reachOf } from "../../../auth/access/people.ts";
import type { Ctx } from "../../../context.ts";
import { anyOf, isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  issueAssignees,
  type Issue,
  timelineEntries,
  type User,
} from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, recordBy } from "../../../events/record.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { unitOf } from "./find-issue.ts";
import { entryArgument, type EntryArgument } from "./insert-entry.ts";
import { type IssueArgument, issueSql } from "./new-issue-id.ts";

/** The issue whose assignees change; without id and number, the one that the batch inserts. */
interface AssignableIssue {
  readonly repo: RepositoryContext;
  readonly row: Pick<Issue, "isPull" | "posterId"> & Partial<Pick<Issue, "id" | "number">>;
}

/**
 * The statements that make some users the assignees of an issue, in their order, with a timeline
 * entry and an event for each who is added or removed. They belong into one batch, whose failure
 * `asUnassignable` translates.
 *
 * A batch fails if one who is added can't read the issue, or if a block forbids the assignment at
 * that time.
 */
export const assigneeStatements = (
  ctx: Ctx,
  issue: AssignableIssue,
  assignees: readonly Pick<User, "id">[],
) => statementsFor(ctx, issue, assignees, "replace");

/** The same for one more assignee, beside those that the issue has at that time. */
export const addedAssigneeStatements = (
  ctx: Ctx,
  issue: AssignableIssue,
  assignee: Pick<User, "id">,
) => statementsFor(ctx, issue, [assignee], "add");

/** The same for one assignee less. */
export const removedAssigneeStatements = (
  ctx: Ctx,
  issue: AssignableIssue,
  assignee: Pick<User, "id">,
) => statementsFor(ctx, issue, [assignee], "remove");

/** What happens to users who are named, and to those who are not. */
type AssigneeChange = "replace" | "add" | "remove";

function statementsFor(
  ctx: Ctx,
  { repo, row }: AssignableIssue,
  assignees: readonly Pick<User, "id">[],
  kind: AssigneeChange,
) {
  const { id: repoId, ownerId } = repo.row;
  const { id = COMPUTED, number = COMPUTED, isPull } = row;
  const event = { repoId, ownerId, issueId: id, number, isPull, userId: COMPUTED };
  const args: AssigneeArguments = {
    repoId,
    ownerId,
    ...(row.id !== undefined && { issueId: row.id }),
    posterId: row.posterId,
    actorId: ctx.actor.user?.id ?? null,
    ids: JSON.stringify([...new Set(assignees.map((user) => user.id))]),
    entry: entryArgument(ctx),
    unassigned: eventArgument(ctx, { type: "issue.unassigned", ...event }),
    assigned: eventArgument(ctx, { type: "issue.assigned", ...event }),
  };
  const reach = reachOf(repo.row, { unit: unitOf(row), mode: "read" });
  return changeAssignees(ctx.db, args, { reach, kind });
}

interface AssigneeArguments extends IssueArgument {
  readonly ownerId: number;
  readonly posterId: number | null;
  readonly actorId: number | null;
  /** JSON. */
  readonly ids: string;
  readonly entry: EntryArgument;
  readonly unassigned: EventArgument;
  readonly assigned: EventArgument;
}

const changeAssignees = prepareAll(
  (
    db,
    p: Params<AssigneeArguments>,
    { reach, kind }: { reach: Reach | undefined; kind: AssigneeChange },
  ) => {
    const { repoId, ownerId, ids } = p;
    const { userId } = issueAssignees;
    const { issueId, computed } = issueSql(p);
    const isOfIssue = eq(issueAssignees.issueId, issueId);
    const named = sql`(select value from json_each(${ids}))`;
    const removedOf: Readonly<Record<AssigneeChange, SQL>> = {
      replace: sql`${userId} not in ${named}`,
      add: sql`false`,
      remove: sql`${userId} in ${named}`,
    };
    const isRemoved = and(isOfIssue, removedOf[kind]);
    const removed = sql`from ${issueAssignees} where ${isRemoved} order by ${issueAssignees}.rowid`;
    const added = sql`
      from json_each(${ids}) assignee
      where ${kind === "remove" ? sql`false` : sql`true`} and not exists (
        select 1 from ${issueAssignees} where ${isOfIssue} and ${userId} = assignee.value
      )
      order by assignee.key`;
    const removedId = sql`${userId}`;
    const addedId = sql`assignee.value`;
    // Users whom the owner or the author blocks can't be assigned, and no user can be assigned by
    // somebody whom they block.
    const isForbidden = anyOf(
      isBlockedBy(addedId, ownerId, p.posterId),
      isBlockedBy(p.actorId, addedId),
    );
    const reaches = reach ? reachesBy(addedId, { id: repoId, ownerId }, reach) : sql`0`;
    const entry = { repoId, issueId, kind: "assignees" as const, ...p.entry };
    return [
      insertSelect(
        db,
        timelineEntries,
        { ...entry, assigneeId: removedId, isAssigneeRemoved: true },
        removed,
      ),
      recordBy(db, p.unassigned, { ...computed, userId: removedId }, removed),
      db.delete(issueAssignees).where(isRemoved),
      insertSelect(db, timelineEntries, { ...entry, assigneeId: addedId }, added),
      recordBy(db, p.assigned, { ...computed, userId: addedId }, added),
      insertSelect(
        db,
        issueAssignees,
        {
          issueId,
          userId: unlessBlocked(isForbidden, addedId),
          repoId: onlyWhile(reaches, repoId),
          createdAt: p.entry.createdAt,
        },
        added,
      ),
    ] as const;
  },
);

/**
 * Translates the error of a failed batch: the refusal if an assignment was not allowed, otherwise
 * the error itself.
 */
export function asUnassignable(error: unknown): unknown {
  if (isViolation(error, "NOT NULL", "issue_assignees.user_id"))
    return forbidden("user is blocked");
  if (isViolation(error, "NOT NULL", "issue_assignees.repo_id")) {
    return invalid("user doesn't have access to repo");
  }
  return error;
}
