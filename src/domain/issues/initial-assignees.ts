import { type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issueAssignees, type User } from "../../db/schema/index.ts";
import { record } from "../../events/record.ts";
import { insertEntry } from "./insert-entry.ts";

/** A new issue in the batch that inserts it. */
export interface NewSubject {
  readonly repoId: number;
  readonly ownerId: number;
  readonly issueId: SQL<number>;
  readonly number: SQL<number>;
  readonly isPull: boolean;
}

/** The statements that assign a new issue, for the batch that inserts it. */
export function initialAssigneeStatements(
  ctx: Ctx,
  subject: NewSubject,
  assignees: readonly User[],
): BatchItem<"sqlite">[] {
  const { repoId, issueId } = subject;
  const ids = JSON.stringify(assignees.map(({ id }) => id));
  return [
    insertSelect(
      ctx.db,
      issueAssignees,
      { issueId, repoId, userId: sql`value`, createdAt: ctx.now },
      sql`from json_each(${ids}) where true order by key`,
    ),
    ...assignees.flatMap(({ id }) => [
      insertEntry(ctx, { kind: "assignees", repoId, issueId, assigneeId: id }),
      record(ctx, { type: "issue.assigned", ...subject, userId: id }),
    ]),
  ];
}
