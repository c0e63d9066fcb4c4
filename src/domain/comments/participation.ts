import { and, eq, sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../auth/access/blocks.ts";
import { isAllowed } from "../../auth/access/permission.ts";
import { isUnitOn } from "../../auth/access/unit-switches.ts";
import type { Ctx } from "../../context.ts";
import { issues } from "../../db/schema/index.ts";
import { forbidden } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { isIssueWritable, unitOf } from "../issues/find-issue.ts";

// Who can see an issue may comment on it and react to it, unless it is locked or a block separates them from those
// whom that reaches. The rule has two forms: what `requireParticipation` refuses before anything is read or written,
// and `isParticipationAllowed` with `isKeptOut` for the statement that writes.

/**
 * Refuses a caller who may not add anything to an issue: to a locked one without write access, or to one of a disabled
 * unit.
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

/** The condition on the `issues` row, when the statement runs. */
export const isParticipationAllowed = (issue: IssueContext): SQL | undefined =>
  and(eq(issues.id, issue.row.id), isIssueWritable(issue) ? undefined : eq(issues.isLocked, false));

/**
 * The condition that a block keeps the caller out of an issue, for `unlessBlocked`. Administrators of the repository are
 * not hindered.
 *
 * @param others Whom the action reaches besides the owner and the poster of the issue.
 */
export const isKeptOut = (
  { actor }: Ctx,
  { repo, row }: IssueContext,
  ...others: readonly (number | null)[]
): SQL =>
  isAllowed(repo, { mode: "admin" })
    ? sql`0`
    : isBlockedBy(
        sql`${actor.user?.id ?? null}`,
        ...[repo.row.ownerId, row.posterId, ...others].map((id) => sql`${id}`),
      );
