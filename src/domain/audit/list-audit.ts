import { asc, desc, eq, gt, gte, inArray, lt, sql, type Column, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { auditEvents, users, type User } from "../../db/schema/index.ts";
import type { AuditEntryRow, AuditKind } from "../../shapes/audit/audit-event.ts";

/** The requested part of the log. */
export interface AuditCursor {
  /** Only entries beyond this one, in the order of the list; undefined for all. */
  readonly after: number | undefined;
  readonly order: "asc" | "desc";
  readonly size: number;
}

/** What the listed entries have in common; undefined is anything. */
export interface AuditFilter {
  readonly kind?: AuditKind | undefined;
  /** The name of the actor, now or at that time. */
  readonly actor?: string | undefined;
  /** The owner of the entry. */
  readonly owner?: string | undefined;
  /** In milliseconds. */
  readonly since?: number | undefined;
  readonly before?: number | undefined;
}

interface AuditSlice {
  readonly items: AuditEntryRow[];
  /** The cursor of the next page. */
  readonly next: number;
}

/** Entries examined for one page, including those that a filter leaves out. */
const EXAMINED_MAX = 1000;

/** How much older than its row an entry's time may be: that of the request, which may take as long. */
const REQUEST_MS_MAX = 60 * 60 * 1000;

/** Lists the log of the service, for administrators of the service. */
export async function listAudit(
  ctx: Ctx,
  filter: AuditFilter,
  cursor: AuditCursor,
): Promise<AuditSlice> {
  const { isKind, isActor, isOwner } = await conditionsOf(ctx, filter);
  // The one that leaves the fewest entries to examine.
  const narrowest = isActor ?? isOwner ?? isKind ?? sql`1`;
  return listEntries(ctx, [narrowest], sql`1`, filter, cursor);
}

/** Lists the entries that belong to an organization, for its owners. */
export const listOrganizationAudit = (
  ctx: Ctx,
  org: User,
  filter: AuditFilter,
  cursor: AuditCursor,
) => listEntries(ctx, [eq(auditEvents.ownerId, org.id)], sql`1`, filter, cursor);

/**
 * Lists what happened to the caller's account, what the caller did, and what concerned them elsewhere.
 *
 * SECURITY: where others were when they acted is for administrators to know. Whoever tried to sign in to the account
 * has no name, only an address.
 */
export function listOwnAudit(ctx: Ctx, user: User, filter: AuditFilter, cursor: AuditCursor) {
  const concerns = [auditEvents.ownerId, auditEvents.actorId, auditEvents.userId].map((column) =>
    eq(column, user.id),
  );
  const isOwnAct = sql`
    (${auditEvents.actorId} = ${user.id} and ${auditEvents.sudoerId} is null)
    or (${auditEvents.ownerId} = ${user.id} and ${auditEvents.kind} = 'sign_in.failed')`;
  return listEntries(ctx, concerns, isOwnAct, filter, cursor);
}

/**
 * Lists a page of the log, in the order of the entries' ids.
 *
 * A cursor skips no entry: D1 has a single writer, which assigns ids in the order in which transactions become visible.
 * With a filter a page may be short or empty before the end; at the end `next` is the cursor of the request.
 *
 * Cost: one round trip; at most `EXAMINED_MAX` rows of the index for each of `isIn`.
 *
 * @param isIn Conditions with an index each; an entry that meets one of them is in the log.
 */
async function listEntries(
  ctx: Ctx,
  isIn: readonly SQL[],
  isAddressShown: SQL,
  filter: AuditFilter,
  { after, order, size }: AuditCursor,
): Promise<AuditSlice> {
  const { id } = auditEvents;
  const { isKind, isActor, isOwner } = await conditionsOf(ctx, filter);
  const direction = order === "asc" ? asc : desc;
  const from = after ?? (order === "asc" ? 0 : Number.MAX_SAFE_INTEGER);
  const isBeyond = allOf(order === "asc" ? gt(id, from) : lt(id, from), ...boundsOf(ctx, filter));
  const parts = isIn.map(
    (condition) => sql`
      select id
      from (
        select ${id} as id
        from ${auditEvents}
        where ${condition} and ${isBeyond}
        order by ${direction(id)}
        limit ${EXAMINED_MAX}
      )`,
  );
  const examined = sql`(
    select id from (${sql.join(parts, sql` union `)})
    order by ${order === "asc" ? sql`id` : sql`id desc`}
    limit ${EXAMINED_MAX}
  ) looked`;
  const last = order === "asc" ? sql`max(looked.id)` : sql`min(looked.id)`;
  const [rows, [end]] = await ctx.db.batch([
    ctx.db
      .select({
        row: auditEvents,
        isAddressShown: sql<number>`${isAddressShown}`.as("is_address_shown"),
      })
      .from(auditEvents)
      .innerJoin(examined, sql`looked.id = ${id}`)
      .where(allOf(isKind, isActor, isOwner, isBetween(filter)))
      .orderBy(direction(id))
      .limit(size),
    ctx.db.select({ id: sql<number | null>`${last}`.as("last_id") }).from(examined),
  ]);
  const items = rows.map(({ row, isAddressShown: isShown }) => ({
    row,
    isAddressShown: isShown === 1,
  }));
  const lastListed = items.length === size ? items.at(-1)?.row.id : undefined;
  return { items, next: lastListed ?? end?.id ?? after ?? 0 };
}

/** The conditions of a filter; the names of accounts that exist are their ids, which have indexes. */
async function conditionsOf({ db }: Ctx, { kind, actor, owner }: AuditFilter) {
  const names = [actor, owner].filter((name) => name !== undefined);
  const found =
    names.length === 0
      ? []
      : await db
          .select({ id: users.id, lowerName: users.lowerName })
          .from(users)
          .where(
            inArray(
              users.lowerName,
              names.map((name) => name.toLowerCase()),
            ),
          );
  const isNamed = (idColumn: Column, nameColumn: Column, name: string | undefined) => {
    if (name === undefined) return undefined;
    const lower = name.toLowerCase();
    const account = found.find(({ lowerName }) => lowerName === lower);
    return account ? eq(idColumn, account.id) : sql`lower(${nameColumn}) = ${lower}`;
  };
  return {
    isKind: kind === undefined ? undefined : eq(auditEvents.kind, kind),
    isActor: isNamed(auditEvents.actorId, auditEvents.actorName, actor),
    isOwner: isNamed(auditEvents.ownerId, auditEvents.ownerName, owner),
  };
}

const isBetween = ({ since, before }: AuditFilter): SQL =>
  allOf(
    since === undefined ? undefined : gte(auditEvents.createdAt, since),
    before === undefined ? undefined : lt(auditEvents.createdAt, before),
  );

/** The ids between which the entries of a time are, so that a list begins there. */
function boundsOf({ db }: Ctx, { since, before }: AuditFilter): SQL[] {
  const { id, createdAt } = auditEvents;
  const earlier = (since ?? 0) - REQUEST_MS_MAX;
  const later = (before ?? 0) + REQUEST_MS_MAX;
  const idAt = (isThere: SQL, direction: typeof asc) =>
    db
      .select({ id })
      .from(auditEvents)
      .where(isThere)
      .orderBy(direction(createdAt), direction(id))
      .limit(1);
  return [
    ...(since === undefined
      ? []
      : [sql`${id} > coalesce((${idAt(lt(createdAt, earlier), desc)}), 0)`]),
    ...(before === undefined
      ? []
      : [sql`${id} < coalesce((${idAt(gte(createdAt, later), asc)}), ${Number.MAX_SAFE_INTEGER})`]),
  ];
}
