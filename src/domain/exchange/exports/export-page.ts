import { eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { qualified } from "../../../db/db.ts";
import { type issues, reactions, users } from "../../../db/schema/index.ts";
import type {
  ForeignItems,
  ForeignKind,
  ForeignReaction,
  ForeignUser,
} from "../../../forges/forge.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** Items of one page, and so of one file of an export. */
export const EXPORT_PAGE_ITEMS = 100;

/** A page of items, and the id behind which the next one begins; undefined after the last page. */
interface ExportPage<T> {
  readonly items: readonly T[];
  readonly next: number | undefined;
}

/**
 * Reads the page of a kind that begins behind an id. Cost: one batch, and for some kinds another
 * one.
 */
export type ReadExportPage<K extends ForeignKind> = (
  ctx: Ctx,
  repo: RepositoryContext,
  after: number,
) => Promise<ExportPage<ForeignItems[K]>>;

/** The author of a row: an account here, or the one elsewhere that it was imported from. */
interface Authored {
  readonly posterId: number | null;
  readonly posterName: string | null;
  readonly originalAuthor: string;
  readonly originalAuthorId: number;
}

export const toUser = (row: Authored): ForeignUser =>
  row.posterId === null
    ? { id: row.originalAuthorId, name: row.originalAuthor || "Ghost" }
    : { id: row.posterId, name: row.posterName ?? "Ghost" };

/** The ids as a JSON list, for one bound value. */
export const among = (column: SQL | typeof issues.id, ids: readonly number[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(ids)}))`;

export const nextOf = (rows: readonly { id: number }[]): number | undefined =>
  rows.length < EXPORT_PAGE_ITEMS ? undefined : rows.at(-1)?.id;

export const accountNameOf = (userId: SQL | typeof issues.posterId) =>
  qualified<string | null>(sql`(select ${users.name} from ${users} where ${users.id} = ${userId})`);

export const selectExportedReactions = (db: Ctx["db"]) =>
  db
    .select({
      issueId: reactions.issueId,
      entryId: reactions.entryId,
      content: reactions.content,
      userId: users.id,
      name: users.name,
    })
    .from(reactions)
    .innerJoin(users, eq(users.id, reactions.userId))
    .orderBy(reactions.id)
    .$dynamic();

export const toReactions = (
  rows: readonly { content: string; userId: number; name: string }[],
): ForeignReaction[] =>
  rows.map(({ content, userId, name }) => ({ content, user: { id: userId, name } }));
