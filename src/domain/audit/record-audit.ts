import { is, SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { jsonOf } from "../../db/json-of.ts";
import { auditEvents, repositories, users } from "../../db/schema/index.ts";
import type { AuditDetails, AuditKind } from "../../shapes/audit/audit-event.ts";

/** Ids of rows that the same batch inserts are known as SQL only. */
type Id = number | SQL;

/** The part of a context that an entry needs: who acts, from where, and when. */
type AuditCtx = Pick<Ctx, "db" | "config" | "actor" | "client" | "now">;

type EntryOf<K extends AuditKind> = {
  kind: K;
  /** The user or organization that the entry belongs to, which reads it; 0 for the service. */
  ownerId: Id;
  /** The user whom the change concerns, where it is not the owner: they read it too. */
  userId?: Id | undefined;
  repoId?: Id | undefined;
  /**
   * The name of the thing that changed.
   *
   * SECURITY: never a secret. A caller's text belongs here only if it is stored elsewhere as a name.
   */
  target?: string | SQL | undefined;
} & (AuditDetails<K> extends Record<string, never>
  ? { details?: undefined }
  : { details: OrSql<AuditDetails<K>> });

type OrSql<T> = { [K in keyof T]: T[K] extends number ? Id : T[K] };

/** What an entry of the audit log says. A new kind is one line in a file of `src/shapes/audit/details`. */
export type AuditEntry = { [K in AuditKind]: EntryOf<K> }[AuditKind];

/**
 * The statement that records an entry of the audit log. It belongs into the batch of the change, so that the entry is
 * stored exactly if the change is.
 *
 * The names of owner, user and repository are read where the statement stands in the batch: it precedes their deletion.
 */
export const recordAudit = (ctx: AuditCtx, entry: AuditEntry) =>
  recordAuditWhere(ctx, entry, sql`1`);

/**
 * Like `recordAudit`, for a change that may turn out to change nothing: the entry is inserted only if the previous
 * statement of the batch changed a row. That may be a `recordIfChanged`.
 */
export const recordAuditIfChanged = (ctx: AuditCtx, entry: AuditEntry) =>
  recordAuditWhere(ctx, entry, sql`changes() > 0`);

/** Like `recordAudit`, if a condition holds where the statement stands in the batch. */
export const recordAuditWhere = (ctx: AuditCtx, entry: AuditEntry, condition: SQL) =>
  insertEntries(ctx, entry, sql`where ${condition}`);

/** Like `recordAuditIfChanged`, for a change of several things of one kind: their owners, names and details. */
export function recordAllAuditIfChanged<K extends AuditKind>(
  ctx: AuditCtx,
  kind: K,
  all: readonly { ownerId: number; target: string; details: AuditDetails<K> }[],
) {
  const rows = all.map((each) => ({ ...each, details: JSON.stringify(each.details) }));
  const entry = {
    kind,
    ownerId: sql`value ->> 'ownerId'`,
    target: sql`value ->> 'target'`,
    details: sql`value ->> 'details'`,
  };
  const from = sql`from json_each(${JSON.stringify(rows)}) where changes() > 0`;
  return insertEntries(ctx, entry, from);
}

type Insertable = Omit<EntryOf<AuditKind>, "details"> & { details?: object | SQL | undefined };

function insertEntries(ctx: AuditCtx, entry: Insertable, from: SQL) {
  const { db, config, actor, client, now } = ctx;
  const { kind, ownerId, userId, repoId, target = "", details = {} } = entry;
  const columns = {
    kind,
    actorId: actor.user?.id ?? 0,
    actorName: actor.user?.name ?? "",
    sudoerId: actor.sudoer?.id ?? null,
    sudoerName: actor.sudoer?.name ?? "",
    credential: actor.credential,
    tokenId: actor.token?.id ?? null,
    ownerId,
    ownerName: nameOf(ownerId),
    userId: userId ?? null,
    userName: userId === undefined ? "" : nameOf(userId),
    repoId: repoId ?? null,
    repoName: repoId === undefined ? "" : fullNameOf(repoId),
    target,
    details: is(details, SQL) ? details : jsonOf(details),
    address: client.address ?? null,
    requestId: client.requestId,
    createdAt: now,
  };
  return insertSelect(db, auditEvents, columns, sql`${from} and ${config.isAuditOn}`);
}

const nameOf = (id: Id): SQL =>
  sql`coalesce((select named.name from ${users} named where named.id = ${id}), '')`;

const fullNameOf = (id: Id): SQL => sql`coalesce(
  (
    select owning.name || '/' || named.name
    from ${repositories} named
    join ${users} owning on owning.id = named.owner_id
    where named.id = ${id}
  ),
  ''
)`;
