import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import type { Database } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED, jsonOf, splitFields } from "../../../db/json-of.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { auditEvents, repositories, users } from "../../../db/schema/index.ts";
import type { AuditDetails, AuditKind } from "../../../shapes/audit/audit-event.ts";

const owning = alias(users, "owning");
const namedUser = alias(users, "named");
const namedRepository = alias(repositories, "named");

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
   * SECURITY: never a secret. A caller's text belongs here only if it is stored elsewhere as a
   * name.
   */
  target?: string | SQL | undefined;
} & (AuditDetails<K> extends Record<string, never>
  ? { details?: undefined }
  : { details: OrSql<AuditDetails<K>> });

type OrSql<T> = { [K in keyof T]: T[K] extends number ? Id : T[K] };

/**
 * An entry of the audit log. A new kind is one line in a file of
 * `src/shapes/audit/details`.
 */
export type AuditEntry = { [K in AuditKind]: EntryOf<K> }[AuditKind];

/**
 * The statement that records an entry of the audit log. It belongs into the batch of the change, so
 * that the entry is stored exactly if the change is.
 *
 * The names of owner, user and repository are read where the statement stands in the batch: it
 * precedes their deletion.
 */
export const recordAudit = (ctx: AuditCtx, entry: AuditEntry) => insertEntry(ctx, entry, false);

/**
 * Like `recordAudit`, for a change that may turn out to change nothing: the entry is inserted only
 * if the previous statement of the batch changed a row. That may be a `recordIfChanged`.
 */
export const recordAuditIfChanged = (ctx: AuditCtx, entry: AuditEntry) =>
  insertEntry(ctx, entry, true);

/** Like `recordAudit`, if a condition holds where the statement stands in the batch. */
export const recordAuditWhere = (ctx: AuditCtx, entry: AuditEntry, condition: SQL) =>
  insertEntries(ctx.db, auditArgument(ctx, entry), computedOf(entry), sql`where ${condition}`);

/**
 * Like `recordAudit`, in a query that is prepared.
 *
 * @param computed The parts of the entry that the argument lacks.
 * @param from     The clauses after the selected columns, for an entry of each row:
 *   `from … where …`.
 */
export const recordAuditBy = (
  db: Database,
  entry: Params<AuditArgument>,
  computed: ComputedParts,
  from: SQL = sql`where true`,
) => insertEntries(db, entry, computed, from);

function insertEntry(ctx: AuditCtx, entry: AuditEntry, isIfChanged: boolean) {
  const argument = auditArgument(ctx, entry);
  const computed = computedOf(entry);
  return Object.keys(computed).length === 0
    ? insertKnown(ctx.db, { ...argument, isIfChanged })
    : insertEntries(ctx.db, argument, computed, conditionOf(isIfChanged));
}

const conditionOf = (isIfChanged: boolean): SQL =>
  isIfChanged ? sql`where changes() > 0` : sql`where true`;

const insertKnown = prepare(
  (db, { isIfChanged, ...entry }: Params<AuditArgument & { isIfChanged: boolean }>) =>
    insertEntries(db, entry, {}, conditionOf(isIfChanged)),
);

/**
 * Like `recordAuditIfChanged`, for a change of several things of one kind: their owners, names and
 * details.
 */
export function recordAllAuditIfChanged<K extends AuditKind>(
  ctx: AuditCtx,
  kind: K,
  all: readonly { ownerId: number; target: string; details: AuditDetails<K> }[],
) {
  const rows = all.map((each) => ({ ...each, details: JSON.stringify(each.details) }));
  const entry = auditArgument(ctx, { kind, ownerId: COMPUTED, target: COMPUTED });
  return insertRows(ctx.db, { entry, rows: JSON.stringify(rows) });
}

const insertRows = prepare((db, p: Params<{ entry: AuditArgument; rows: string }>) => {
  const computed = {
    ownerId: sql`value ->> 'ownerId'`,
    target: sql`value ->> 'target'`,
    details: sql`value ->> 'details'`,
  };
  return insertEntries(db, p.entry, computed, sql`from json_each(${p.rows}) where changes() > 0`);
});

/** An entry as an argument of a prepared query, without the parts that the query computes. */
export interface AuditArgument {
  readonly kind: AuditKind;
  readonly actorId: number;
  readonly actorName: string;
  readonly sudoerId: number | null;
  readonly sudoerName: string;
  readonly credential: string;
  readonly tokenId: number | null;
  readonly ownerId?: number;
  readonly userId?: number;
  readonly repoId?: number;
  readonly target?: string;
  /** JSON. */
  readonly details: string;
  readonly address: string | null;
  readonly requestId: string;
  readonly now: number;
  readonly isAuditOn: boolean;
}

/** The parts of an entry that are known as SQL only. */
interface ComputedParts {
  readonly ownerId?: SQL;
  readonly userId?: SQL;
  readonly repoId?: SQL;
  readonly target?: SQL;
  /** Instead of the argument's. */
  readonly details?: SQL;
}

type Insertable = Pick<EntryOf<AuditKind>, "kind" | "ownerId" | "userId" | "repoId" | "target"> & {
  details?: object | undefined;
};

/**
 * An entry for `recordAuditBy`.
 *
 * @param entry Parts that are SQL are left out: `COMPUTED` for each that the query computes.
 */
export function auditArgument(ctx: AuditCtx, entry: Insertable): AuditArgument {
  const { config, actor, client, now } = ctx;
  const { kind, ownerId, userId, repoId, target = "", details = {} } = entry;
  return {
    kind,
    actorId: actor.user?.id ?? 0,
    actorName: actor.user?.name ?? "",
    sudoerId: actor.sudoer?.id ?? null,
    sudoerName: actor.sudoer?.name ?? "",
    credential: actor.credential,
    tokenId: actor.token?.id ?? null,
    ...splitFields({ ownerId, userId, repoId, target }).known,
    details: JSON.stringify(splitFields(details).known),
    address: client.address ?? null,
    requestId: client.requestId,
    now,
    isAuditOn: config.isAuditOn,
  };
}

function computedOf({ ownerId, userId, repoId, target, details = {} }: Insertable): ComputedParts {
  const hasComputed = Object.keys(splitFields(details).computed).length > 0;
  return {
    ...splitFields({ ownerId, userId, repoId, target }).computed,
    ...(hasComputed && { details: jsonOf(details) }),
  };
}

function insertEntries(
  db: Database,
  entry: Params<AuditArgument> | AuditArgument,
  computed: ComputedParts,
  from: SQL,
) {
  const all = { ...entry, ...computed };
  const { ownerId, userId, repoId, target, details, now, isAuditOn, ...known } = all;
  const columns = {
    ...known,
    ownerId: sql`${ownerId}`,
    ownerName: nameOf(ownerId),
    userId,
    userName: userId === undefined ? "" : nameOf(userId),
    repoId,
    repoName: repoId === undefined ? "" : fullNameOf(repoId),
    target,
    details: sql`${details}`,
    createdAt: now,
  };
  return insertSelect(db, auditEvents, columns, sql`${from} and ${isAuditOn}`);
}

const nameOf = (id: Id | undefined): SQL =>
  sql`coalesce(
    (select ${namedUser.name} from ${users} ${namedUser} where ${namedUser.id} = ${id}),
    ''
  )`;

const fullNameOf = (id: Id): SQL => sql`coalesce(
  (
    select ${owning.name} || '/' || ${namedRepository.name}
    from ${repositories} ${namedRepository}
    join ${users} ${owning} on ${owning.id} = ${namedRepository.ownerId}
    where ${namedRepository.id} = ${id}
  ),
  ''
)`;
