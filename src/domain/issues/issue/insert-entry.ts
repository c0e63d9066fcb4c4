import { Column, is, SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { timelineEntries, type TimelineKind } from "../../../db/schema/index.ts";
import { newIdIn } from "./new-issue-id.ts";

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

/** An entry whose columns are all known. */
type KnownEntry = { [K in keyof NewEntry]: Exclude<NewEntry[K], SQL | Column> };

/**
 * The statement that adds an entry by the caller to the timeline of an issue, in the batch of
 * the change.
 */
export const insertEntry = (ctx: Ctx, entry: NewEntry) => insertOne(ctx, entry, false);

/** Like `insertEntry`, if the previous statement of the batch changed a row. */
export const insertEntryIfChanged = (ctx: Ctx, entry: NewEntry) => insertOne(ctx, entry, true);

const insertOne = (ctx: Ctx, entry: NewEntry, isIfChanged: boolean) =>
  isKnown(entry)
    ? insertKnown(ctx.db, { isIfChanged, row: toRow(ctx, entry) })
    : insertEntries(ctx, entry, conditionOf(isIfChanged));

/** An entry by the caller on the issue that the batch has inserted. */
type EntryOnNew = Omit<KnownEntry, "issueId" | keyof EntryArgument>;

/** Like `insertEntry`, on the issue or pull request that the batch has inserted. */
export const insertEntryOnNew = (ctx: Ctx, entry: EntryOnNew) =>
  insertOnNew(ctx.db, { ...entryArgument(ctx), ...entry });

const insertOnNew = prepare((db, row: Params<EntryArgument & EntryOnNew>) =>
  insertSelect(db, timelineEntries, { ...row, issueId: newIdIn(row.repoId) }, conditionOf(false)),
);

/**
 * The statement that adds an entry for each row of a select, whose columns the entry may contain:
 * `from … where …`.
 */
export const insertEntries = (ctx: Ctx, entry: NewEntry, from: SQL) =>
  insertSelect(ctx.db, timelineEntries, toRow(ctx, entry), from);

const conditionOf = (isIfChanged: boolean): SQL =>
  isIfChanged ? sql`where changes() > 0` : sql`where true`;

const isKnown = (entry: NewEntry): entry is KnownEntry =>
  Object.values(entry).every((value) => !is(value, SQL) && !is(value, Column));

const insertKnown = prepare(
  (db, { isIfChanged, row }: Params<{ isIfChanged: boolean; row: EntryArgument & KnownEntry }>) =>
    insertSelect(db, timelineEntries, row, conditionOf(isIfChanged)),
);

/** The poster and the times of a new entry, as an argument of a prepared query. */
export interface EntryArgument {
  readonly posterId: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const entryArgument = ({ actor, now }: Ctx): EntryArgument => ({
  posterId: actor.user?.id ?? null,
  createdAt: now,
  updatedAt: now,
});

const toRow = <T extends NewEntry>(ctx: Ctx, entry: T) => ({ ...entryArgument(ctx), ...entry });
