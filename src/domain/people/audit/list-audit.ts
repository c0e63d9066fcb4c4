import { asc, desc, eq, gt, gte, inArray, lt, sql, type Column, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch, type Results } from "../../../db/batch.ts";
import { allOf, type Database } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { auditEvents, users, type User } from "../../../db/schema/index.ts";
import type { AuditEntryRow, AuditKind } from "../../../shapes/audit/audit-event.ts";

/** The entries that a page examines. */
const examined = derivedTable("examined", "id");

/** The requested part of the log. */
export interface AuditCursor {
  /** Only entries beyond this one, in the order of the list; undefined for all. */
  readonly after: number | undefined;
  readonly order: "asc" | "desc";
  readonly size: number;
}

/** The filter of a list of entries; undefined matches anything. */
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

/**
 * How much older than its row an entry's time may be: that of the request, which may take as long.
 */
const REQUEST_MS_MAX = 60 * 60 * 1000;

/** Lists the log of the service, for administrators of the service. */
export async function listAudit(
  ctx: Ctx,
  filter: AuditFilter,
  cursor: AuditCursor,
): Promise<AuditSlice> {
  const resolved = await resolveNames(ctx, filter);
  return toSlice(cursor, await batch(ctx.db, allEntries(ctx.db, ...toPage(resolved, cursor))));
}

const allEntries = prepareAll((db, p: Params<AuditPage>, order: AuditOrder) => {
  const { isActor, isOwner, isKind } = conditionsOf(p.resolved);
  // The one that leaves the fewest entries to examine.
  const narrowest = isActor ?? isOwner ?? isKind ?? sql`1`;
  return selectEntries(db, [narrowest], sql`1`, p, order);
});

/** Lists the entries that belong to an organization, for its owners. */
export async function listOrganizationAudit(
  ctx: Ctx,
  org: User,
  filter: AuditFilter,
  cursor: AuditCursor,
): Promise<AuditSlice> {
  const [page, order] = toPage(await resolveNames(ctx, filter), cursor);
  return toSlice(
    cursor,
    await batch(ctx.db, entriesOfOrganization(ctx.db, { ...page, orgId: org.id }, order)),
  );
}

const entriesOfOrganization = prepareAll(
  (db, p: Params<AuditPage & { orgId: number }>, order: AuditOrder) =>
    selectEntries(db, [eq(auditEvents.ownerId, p.orgId)], sql`1`, p, order),
);

/**
 * Lists what happened to the caller's account, what the caller did, and what concerned them
 * elsewhere.
 *
 * SECURITY: where others were when they acted is for administrators to know. A user who tried to
 * sign in to the account has no name, only an address.
 */
export async function listOwnAudit(
  ctx: Ctx,
  user: User,
  filter: AuditFilter,
  cursor: AuditCursor,
): Promise<AuditSlice> {
  const [page, order] = toPage(await resolveNames(ctx, filter), cursor);
  return toSlice(
    cursor,
    await batch(ctx.db, entriesOfUser(ctx.db, { ...page, userId: user.id }, order)),
  );
}

const entriesOfUser = prepareAll(
  (db, p: Params<AuditPage & { userId: number }>, order: AuditOrder) => {
    const { userId } = p;
    const concerns = [auditEvents.ownerId, auditEvents.actorId, auditEvents.userId].map((column) =>
      eq(column, userId),
    );
    const isOwnAct = sql`
      (${auditEvents.actorId} = ${userId} and ${auditEvents.sudoerId} is null)
      or (${auditEvents.ownerId} = ${userId} and ${auditEvents.kind} = 'sign_in.failed')`;
    return selectEntries(db, concerns, isOwnAct, p, order);
  },
);

/** The order of a list, which decides about its SQL. */
interface AuditOrder {
  readonly order: AuditCursor["order"];
}

/** The filter of a list and where its page starts, as arguments of its queries. */
interface AuditPage {
  readonly resolved: ResolvedFilter;
  readonly from: number;
  readonly size: number;
}

const toPage = (
  resolved: ResolvedFilter,
  { after, order, size }: AuditCursor,
): [page: AuditPage, order: AuditOrder] => [
  { resolved, from: after ?? (order === "asc" ? 0 : Number.MAX_SAFE_INTEGER), size },
  { order },
];

/**
 * Selects a page of the log, in the order of the entries' ids, and the last id that was examined.
 *
 * A cursor skips no entry: D1 has a single writer, which assigns ids in the order in which
 * transactions become visible. With a filter a page may be short or empty before the end; at the
 * end `next` is the cursor of the request.
 *
 * Cost: one round trip; at most `EXAMINED_MAX` rows of the index for each of `isIn`.
 *
 * @param isIn Conditions with an index each; an entry that meets one of them is in the log.
 */
function selectEntries(
  db: Database,
  isIn: readonly SQL[],
  isAddressShown: SQL,
  { resolved, from, size }: Params<AuditPage>,
  { order }: AuditOrder,
) {
  const { id } = auditEvents;
  const { isKind, isActor, isOwner } = conditionsOf(resolved);
  const direction = order === "asc" ? asc : desc;
  const isBeyond = allOf(order === "asc" ? gt(id, from) : lt(id, from), ...boundsOf(db, resolved));
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
  const walk = sql`(
    select id from (${sql.join(parts, sql` union `)})
    order by ${order === "asc" ? sql`id` : sql`id desc`}
    limit ${EXAMINED_MAX}
  ) ${examined}`;
  const last = order === "asc" ? sql`max(${examined.id})` : sql`min(${examined.id})`;
  return {
    rows: db
      .select({
        row: auditEvents,
        isAddressShown: sql<number>`${isAddressShown}`.as("is_address_shown"),
      })
      .from(auditEvents)
      .innerJoin(walk, sql`${examined.id} = ${id}`)
      .where(allOf(isKind, isActor, isOwner, isBetween(resolved)))
      .orderBy(direction(id))
      .limit(size),
    ends: db.select({ id: sql<number | null>`${last}`.as("last_id") }).from(walk),
  };
}

/** The page of the rows of `selectEntries`. */
function toSlice(
  { after, size }: AuditCursor,
  { rows, ends: [end] }: Results<ReturnType<typeof selectEntries>>,
): AuditSlice {
  const items = rows.map(({ row, isAddressShown: isShown }) => ({
    row,
    isAddressShown: isShown === 1,
  }));
  const lastListed = items.length === size ? items.at(-1)?.row.id : undefined;
  return { items, next: lastListed ?? end?.id ?? after ?? 0 };
}

/** An account of a filter: its id, or null if none has the name now, and the name in lower case. */
interface ResolvedAccount {
  readonly id: number | null;
  readonly lowerName: string;
}

/** A filter as an argument of a query. */
type ResolvedFilter = Pick<AuditFilter, "kind" | "since" | "before"> & {
  readonly actor: ResolvedAccount | undefined;
  readonly owner: ResolvedAccount | undefined;
};

async function resolveNames(
  { db }: Ctx,
  { kind, since, before, ...accounts }: AuditFilter,
): Promise<ResolvedFilter> {
  const [actor, owner] = [accounts.actor?.toLowerCase(), accounts.owner?.toLowerCase()];
  const names = [actor, owner].filter((name) => name !== undefined);
  const found = names.length === 0 ? [] : await idsOfNames(db, { names });
  const resolve = (lower: string | undefined): ResolvedAccount | undefined => {
    if (lower === undefined) return undefined;
    const account = found.find(({ lowerName }) => lowerName === lower);
    return { id: account?.id ?? null, lowerName: lower };
  };
  return { kind, since, before, actor: resolve(actor), owner: resolve(owner) };
}

const idsOfNames = prepare((db, p: Params<{ names: readonly string[] }>) =>
  db
    .select({ id: users.id, lowerName: users.lowerName })
    .from(users)
    .where(inArray(users.lowerName, p.names)),
);

/** The conditions of a filter. */
function conditionsOf({ kind, actor, owner }: Params<ResolvedFilter>) {
  const isAccount = (
    idColumn: Column,
    nameColumn: Column,
    account: Params<ResolvedAccount> | undefined,
  ) =>
    account &&
    sql`(
      ${idColumn} = ${account.id}
      or (${account.id} is null and lower(${nameColumn}) = ${account.lowerName})
    )`;
  return {
    isKind: kind && eq(auditEvents.kind, kind),
    isActor: isAccount(auditEvents.actorId, auditEvents.actorName, actor),
    isOwner: isAccount(auditEvents.ownerId, auditEvents.ownerName, owner),
  };
}

const isBetween = ({ since, before }: Params<ResolvedFilter>): SQL =>
  allOf(
    since === undefined ? undefined : gte(auditEvents.createdAt, since),
    before === undefined ? undefined : lt(auditEvents.createdAt, before),
  );

/** The ids between which the entries of a time are, so that a list begins there. */
function boundsOf(db: Database, { since, before }: Params<ResolvedFilter>): SQL[] {
  const { id, createdAt } = auditEvents;
  const margin = sql.raw(String(REQUEST_MS_MAX));
  const end = Number.MAX_SAFE_INTEGER;
  const earlier = since && lt(createdAt, sql`${since} - ${margin}`);
  const later = before && gte(createdAt, sql`${before} + ${margin}`);
  const idAt = (isThere: SQL, direction: typeof asc) =>
    db
      .select({ id })
      .from(auditEvents)
      .where(isThere)
      .orderBy(direction(createdAt), direction(id))
      .limit(1);
  return [
    ...(earlier ? [sql`${id} > coalesce((${idAt(earlier, desc)}), 0)`] : []),
    ...(later ? [sql`${id} < coalesce((${idAt(later, asc)}), ${end})`] : []),
  ];
}
