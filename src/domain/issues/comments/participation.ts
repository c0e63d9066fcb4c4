import { and, eq, sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import type { Params } from "../../../db/prepared.ts";
import { issues } from "../../../db/schema/index.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { isIssueWritable, unitOf } from "../issue/find-issue.ts";

// Users who can see an issue may comment on it and react to it, unless it is locked or a block
// separates them from the users whom that reaches. The rule has two forms: `requireParticipation`
// refuses before anything is read or written; `isParticipationAllowed` and `isKeptOut` are
// conditions of the statement that writes.

/**
 * Refuses a caller who may not add anything to an issue: to a locked one without write access, or
 * to one of a disabled unit.
 *
 * @param refusal The message for a locked issue.
 */
export function requireParticipation(issue: IssueContext, refusal: string): void {
  requireUnitOn(issue);
  if (issue.row.isLocked && !isIssueWritable(issue)) throw forbidden(refusal);
}

/** Administrators see the issues of a disabled unit, and can't change them. */
export function requireUnitOn({ repo, row }: IssueContext): void {
  const unit = unitOf(row);
  if (!isUnitOn(repo.row, unit)) throw forbidden(`the repository's ${unit} unit is disabled`);
}

/** An issue and the caller who takes part in it, as an argument of a query. */
export interface ParticipationArgument {
  readonly issueId: number;
  readonly ownerId: number;
  readonly posterId: number | null;
  readonly actorId: number | null;
  /** Whether the caller may write to the unit of the issue, and whether to everything. */
  readonly isWriter: boolean;
  readonly isAdmin: boolean;
}

export const participationArgument = (
  { actor }: Ctx,
  issue: IssueContext,
): ParticipationArgument => ({
  issueId: issue.row.id,
  ownerId: issue.repo.row.ownerId,
  posterId: issue.row.posterId,
  actorId: actor.user?.id ?? null,
  isWriter: isIssueWritable(issue),
  isAdmin: isAllowed(issue.repo, { mode: "admin" }),
});

type Participation = ParticipationArgument | Params<ParticipationArgument>;

/** The condition on the `issues` row, when the statement runs. */
export const isParticipationAllowed = ({ issueId, isWriter }: Participation): SQL | undefined =>
  and(eq(issues.id, issueId), isWriter ? undefined : eq(issues.isLocked, false));

/**
 * The condition that a block keeps the caller out of an issue, for `unlessBlocked`. Administrators
 * of the repository are not hindered.
 *
 * @param others Whom the action reaches besides the owner and the poster of the issue.
 */
export const isKeptOut = (
  { actorId, ownerId, posterId, isAdmin }: Participation,
  ...others: readonly (number | SQL | null)[]
): SQL =>
  isAdmin
    ? sql`0`
    : isBlockedBy(sql`${actorId}`, ...[ownerId, posterId, ...others].map((id) => sql`${id}`));
