import { and, eq, inArray, ne, sql, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import {
  isRepositoryVisibleWith,
  type UnitNeed,
} from "../../../auth/access/visible-repositories.ts";
import { principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import {
  attachments,
  issues,
  reactions,
  repositories,
  reviews,
  timelineEntries,
  trackedTimes,
  type User,
  users,
} from "../../../db/schema/index.ts";
import { formatTime } from "../../../lib/time.ts";

/** Rows that one query reads. */
const PAGE_SIZE = 500;

type Pages<T extends object = object> = AsyncGenerator<readonly T[]>;

/** Issues and pull requests that an account opened. */
export const readOwnIssues = (ctx: Ctx, user: User): Pages =>
  walk([issues.isPull, issues.isClosed, issues.id], (isBeyond, cursor, order) =>
    ctx.db
      .select({ ...PLACE, cursor, title: issues.title, body: issues.body, at: issues.createdAt })
      .from(issues)
      .innerJoin(repositories, eq(repositories.id, issues.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(and(eq(issues.posterId, user.id), isBeyond, isVisible(ctx)))
      .orderBy(...order)
      .limit(PAGE_SIZE),
  );

/** Comments of an account, those on code included. */
export const readOwnComments = (ctx: Ctx, user: User): Pages =>
  walk([timelineEntries.issueId, timelineEntries.id], (isBeyond, cursor, order) =>
    ctx.db
      .select({ ...PLACE, cursor, body: timelineEntries.body, at: timelineEntries.createdAt })
      .from(timelineEntries)
      .innerJoin(issues, eq(issues.id, timelineEntries.issueId))
      .innerJoin(repositories, eq(repositories.id, timelineEntries.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(
        and(
          eq(timelineEntries.posterId, user.id),
          inArray(timelineEntries.kind, ["comment", "code"]),
          isBeyond,
          isVisible(ctx),
        ),
      )
      .orderBy(...order)
      .limit(PAGE_SIZE),
  );

/** Reviews of an account with what they say. */
export const readOwnReviews = (ctx: Ctx, user: User): Pages =>
  walk([reviews.state, reviews.issueId, reviews.id], (isBeyond, cursor, order) =>
    ctx.db
      .select({
        ...PLACE,
        cursor,
        state: reviews.state,
        body: reviews.body,
        at: reviews.createdAt,
      })
      .from(reviews)
      .innerJoin(issues, eq(issues.id, reviews.issueId))
      .innerJoin(repositories, eq(repositories.id, reviews.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(
        and(
          eq(reviews.reviewerId, user.id),
          ne(reviews.state, "request_review"),
          isBeyond,
          isVisible(ctx),
        ),
      )
      .orderBy(...order)
      .limit(PAGE_SIZE),
  );

/** The time that an account has booked. */
export const readOwnTimes = (ctx: Ctx, user: User): Pages =>
  walk([trackedTimes.id], (isBeyond, cursor, order) =>
    ctx.db
      .select({ ...PLACE, cursor, seconds: trackedTimes.seconds, at: trackedTimes.createdAt })
      .from(trackedTimes)
      .innerJoin(issues, eq(issues.id, trackedTimes.issueId))
      .innerJoin(repositories, eq(repositories.id, trackedTimes.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(and(eq(trackedTimes.userId, user.id), isBeyond, isVisible(ctx)))
      .orderBy(...order)
      .limit(PAGE_SIZE),
  );

/** Reactions of an account to issues and comments. */
export const readOwnReactions = (ctx: Ctx, user: User): Pages =>
  walk([reactions.id], (isBeyond, cursor, order) =>
    ctx.db
      .select({
        ...PLACE,
        cursor,
        comment_id: reactions.entryId,
        content: reactions.content,
        at: reactions.createdAt,
      })
      .from(reactions)
      .innerJoin(issues, eq(issues.id, reactions.issueId))
      .innerJoin(repositories, eq(repositories.id, issues.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(and(eq(reactions.userId, user.id), isBeyond, isVisible(ctx)))
      .orderBy(...order)
      .limit(PAGE_SIZE),
  );

/** A file that an account attached, with its path in the export. */
interface OwnFile {
  readonly file: string;
  readonly uuid: string;
  readonly size: number;
}

/** Files that an account attached to issues, comments and releases, or uploaded for a text. */
export async function* readOwnFiles(ctx: Ctx, user: User): Pages<OwnFile> {
  const pages = walk([attachments.id], (isBeyond, cursor, order) =>
    ctx.db
      .select({
        ...PLACE,
        cursor,
        id: attachments.id,
        uuid: attachments.uuid,
        name: attachments.name,
        size: attachments.sizeBytes,
        comment_id: attachments.entryId,
        release_id: attachments.releaseId,
        at: attachments.createdAt,
      })
      .from(attachments)
      .leftJoin(issues, eq(issues.id, attachments.issueId))
      .innerJoin(repositories, eq(repositories.id, attachments.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(and(eq(attachments.uploaderId, user.id), isBeyond, isVisible(ctx)))
      .orderBy(...order)
      .limit(PAGE_SIZE),
  );
  for await (const page of pages) {
    yield Array.from(page, ({ id, ...row }) => ({
      ...row,
      file: `files/${id}${extensionOf(row.name)}`,
    }));
  }
}

/** The end of a name, which tells programs its type; "" for one that is no plain extension. */
const extensionOf = (name: string): string => /\.[a-z0-9]{1,10}$/i.exec(name)?.[0] ?? "";

/** The issue or pull request that a row is about. */
const PLACE = {
  repository: sql<string>`${users.name} || '/' || ${repositories.name}`.as("repository"),
  number: issues.number,
  is_pull: issues.isPull,
};

/** The units in which the issues and pull requests of the rows are. */
const NEEDS: readonly UnitNeed[] = [
  { unit: "pulls", isNeeded: sql`${issues.isPull}` },
  { unit: "issues", isNeeded: sql`not ${issues.isPull}` },
];

/** SECURITY: the title and the text of a post may be somebody else's edit by now. */
const isVisible = ({ actor }: Ctx): SQL => isRepositoryVisibleWith(principalOf(actor), NEEDS);

interface Row {
  /** The keys of the row, as a JSON array. */
  readonly cursor: string;
  /** In milliseconds. */
  readonly at: number;
}

/**
 * Reads rows in the order of an index, page by page.
 *
 * @param keys The columns of the index after that of the account, the last of which is unique.
 */
async function* walk<R extends Row>(
  keys: readonly SQLiteColumn[],
  select: (isBeyond: SQL | undefined, cursor: SQL.Aliased<string>, order: SQL[]) => Promise<R[]>,
): Pages<Omit<R, keyof Row> & { readonly created_at: string }> {
  const list = sql.join([...keys], sql`, `);
  const cursor = sql<string>`json_array(${list})`.as("cursor");
  const order = keys.map((key) => sql`${key}`);
  for (let last: readonly unknown[] | undefined; ;) {
    const values =
      last &&
      sql.join(
        last.map((value) => sql`${value}`),
        sql`, `,
      );
    const rows = await select(values && sql`(${list}) > (${values})`, cursor, order);
    if (rows.length > 0) {
      yield rows.map(({ cursor: _cursor, at, ...row }) => ({ ...row, created_at: formatTime(at) }));
    }
    const end = rows.at(-1);
    if (!end || rows.length < PAGE_SIZE) return;
    last = JSON.parse(end.cursor) as unknown[];
  }
}
