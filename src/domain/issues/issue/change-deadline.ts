import { type AnyColumn, and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issues, timelineEntries } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "./event-subject.ts";
import { issueIdById } from "./find-issue.ts";
import { entryArgument, type EntryArgument } from "./insert-entry.ts";

/**
 * Sets or removes the due date of an issue or pull request. Idempotent. @throws Failure `not_found`
 * if it is gone.
 */
export async function changeDeadline(
  ctx: Ctx,
  issue: IssueContext,
  deadlineAt: number | null,
): Promise<void> {
  const { found } = await batch(ctx.db, {
    change: deadlineStatements(ctx, issue, deadlineAt),
    found: issueIdById(ctx.db, { id: issue.row.id }),
  });
  if (found.length === 0) throw notFound("issue does not exist");
}

/** The statements that set or remove a due date. Where it is that already they write nothing. */
export function deadlineStatements(ctx: Ctx, issue: IssueContext, deadlineAt: number | null) {
  const { id: issueId, repoId } = issue.row;
  const isRemoved = deadlineAt === null;
  const args = { repoId, issueId, deadlineAt, isRemoved, entry: entryArgument(ctx) };
  return [
    insertDeadlineEntry(ctx.db, args),
    recordIfChanged(ctx, { type: "issue.deadline_changed", ...eventSubject(issue), deadlineAt }),
    updateDeadline(ctx.db, args),
  ] as const;
}

interface NewDeadline {
  readonly repoId: number;
  readonly issueId: number;
  readonly deadlineAt: number | null;
  readonly isRemoved: boolean;
  readonly entry: EntryArgument;
}

const isChangedBy = ({ issueId, deadlineAt }: Params<NewDeadline>) =>
  and(eq(issues.id, issueId), sql`${issues.deadlineAt} is not ${deadlineAt}`);

const updateDeadline = prepare((db, p: Params<NewDeadline>) =>
  db
    .update(issues)
    .set({ deadlineAt: p.deadlineAt, updatedAt: p.entry.updatedAt })
    .where(isChangedBy(p)),
);

/** The entry names the days: the new one, the former one, or both. */
const insertDeadlineEntry = prepare((db, p: Params<NewDeadline>) => {
  const { repoId, issueId, deadlineAt, entry } = p;
  const dayOf = (time: AnyColumn | SQL): SQL => sql`date(${time} / 1000, 'unixepoch')`;
  const isAdded = sql`${issues.deadlineAt} is null`;
  const former = dayOf(issues.deadlineAt);
  const change = p.isRemoved
    ? { kind: "removed_deadline" as const, body: former }
    : {
        kind: sql`iif(${isAdded}, 'added_deadline', 'modified_deadline')`,
        body: sql`${dayOf(deadlineAt)} || iif(${isAdded}, '', '|' || ${former})`,
      };
  return insertSelect(
    db,
    timelineEntries,
    { repoId, issueId, ...entry, ...change },
    sql`from ${issues} where ${isChangedBy(p)}`,
  );
});
