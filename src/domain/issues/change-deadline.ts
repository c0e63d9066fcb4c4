import { type AnyColumn, and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { issues } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { insertEntries } from "./insert-entry.ts";

/** Sets or removes the due date of an issue or pull request. Idempotent. @throws Failure `not_found` if it is gone. */
export async function changeDeadline(
  ctx: Ctx,
  issue: IssueContext,
  deadlineAt: number | null,
): Promise<void> {
  const [, , , [found]] = await ctx.db.batch([
    ...deadlineStatements(ctx, issue, deadlineAt),
    ctx.db.select({ id: issues.id }).from(issues).where(eq(issues.id, issue.row.id)),
  ]);
  if (!found) throw notFound("issue does not exist");
}

/** The statements that set or remove a due date. Where it is that already they write nothing. */
export function deadlineStatements(ctx: Ctx, issue: IssueContext, deadlineAt: number | null) {
  const { id: issueId, repoId } = issue.row;
  const isChanged = and(eq(issues.id, issueId), sql`${issues.deadlineAt} is not ${deadlineAt}`);
  return [
    deadlineEntry(ctx, { repoId, issueId }, deadlineAt, sql`from ${issues} where ${isChanged}`),
    recordIfChanged(ctx, { type: "issue.deadline_changed", ...eventSubject(issue), deadlineAt }),
    ctx.db.update(issues).set({ deadlineAt, updatedAt: ctx.now }).where(isChanged),
  ] as const;
}

/** The entry names the days: the new one, the former one, or both. */
function deadlineEntry(
  ctx: Ctx,
  subject: { repoId: number; issueId: number },
  deadlineAt: number | null,
  from: SQL,
) {
  const dayOf = (time: AnyColumn | number): SQL => sql`date(${time} / 1000, 'unixepoch')`;
  const isAdded = sql`${issues.deadlineAt} is null`;
  if (deadlineAt === null) {
    const body = dayOf(issues.deadlineAt);
    return insertEntries(ctx, { kind: "removed_deadline", ...subject, body }, from);
  }
  const kind = sql`iif(${isAdded}, 'added_deadline', 'modified_deadline')`;
  const body = sql`
    ${dayOf(deadlineAt)} || iif(${isAdded}, '', '|' || ${dayOf(issues.deadlineAt)})`;
  return insertEntries(ctx, { kind, ...subject, body }, from);
}
