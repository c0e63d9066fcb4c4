import { type Column, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { timelineEntries, type TimelineKind } from "../../db/schema/index.ts";

/** A new entry of a timeline. Ids of rows that the same batch inserts are known as SQL only. */
type NewEntry = {
  [K in keyof typeof timelineEntries.$inferInsert]?:
    | (typeof timelineEntries.$inferInsert)[K]
    | SQL
    | Column;
} & {
  readonly kind: TimelineKind | SQL;
  readonly repoId: number | SQL;
  readonly issueId: number | SQL;
};

/** The statement that adds an entry by the caller to the timeline of an issue, in the batch of what it tells of. */
export const insertEntry = (ctx: Ctx, entry: NewEntry) =>
  insertSelect(ctx.db, timelineEntries, toRow(ctx, entry), sql`where true`);

/** Like `insertEntry`, if the previous statement of the batch changed a row. */
export const insertEntryIfChanged = (ctx: Ctx, entry: NewEntry) =>
  insertSelect(ctx.db, timelineEntries, toRow(ctx, entry), sql`where changes() > 0`);

/** The statement that adds an entry for each row of a select, whose columns the entry may contain: `from … where …`. */
export const insertEntries = (ctx: Ctx, entry: NewEntry, from: SQL) =>
  insertSelect(ctx.db, timelineEntries, toRow(ctx, entry), from);

const toRow = ({ actor, now }: Ctx, entry: NewEntry) => ({
  posterId: actor.user?.id ?? null,
  createdAt: now,
  updatedAt: now,
  ...entry,
});
