import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { flagColumn } from "../../../db/db.ts";
import {
  attachments,
  packageUsage,
  repositories,
  users,
  type User,
} from "../../../db/schema/index.ts";
import { Failure } from "../../../lib/failure.ts";

const limited = alias(users, "limited");
const counted = alias(repositories, "counted");

/** An owner, as its quota needs it. */
export type LimitedOwner = Pick<User, "id" | "quota">;

/** Bytes that an owner may store; negative for any number. */
export const bytesMaxOf = (
  { config }: Pick<Ctx, "config">,
  { quota }: Pick<User, "quota">,
): number => quota?.bytesMax ?? config.ownerBytesMax;

/** Access tokens that a user may have; negative for any number. */
export const tokenCountMaxOf = (
  { config }: Pick<Ctx, "config">,
  { quota }: Pick<User, "quota">,
): number => quota?.tokenCountMax ?? config.tokenCountMax;

/**
 * The bytes that an owner stores: git and wikis, large files, attachments and packages. What forks
 * share counts for each of them.
 *
 * Cost: the owner's repositories and the rows of their attachments.
 */
export const storedBytes = (ownerId: SQL): SQL<number> => sql`(
  coalesce((
    select sum(${counted.sizeBytes} + ${counted.lfsSizeBytes} + ${counted.wikiSizeBytes})
    from ${repositories} ${counted}
    where ${counted.ownerId} = ${ownerId}
  ), 0)
  + coalesce((
    select sum(${attachments.sizeBytes})
    from ${repositories} ${counted}
    join ${attachments} on ${attachments.repoId} = ${counted.id}
    where ${counted.ownerId} = ${ownerId}
  ), 0)
  + coalesce((
    select ${packageUsage.sizeBytes} from ${packageUsage} where ${packageUsage.ownerId} = ${ownerId}
  ), 0)
)`;

/**
 * The condition, for a write, that an owner may store some more bytes. Nothing is added up for an
 * owner without a limit.
 */
export const mayStore = (
  { config }: { readonly config: { readonly ownerBytesMax: number | SQL } },
  ownerId: SQL,
  bytes: number | SQL,
): SQL => {
  const max = sql`coalesce(${limited.quota} ->> '$.bytesMax', ${config.ownerBytesMax})`;
  return sql`exists (
    select 1
    from ${users} ${limited}
    where ${limited.id} = ${ownerId}
      and (${max} < 0 or ${storedBytes(sql`${limited.id}`)} + ${bytes} <= ${max})
  )`;
};

/** The refusal of a write for an owner who stores as much as they may. */
export const quotaExceeded = (): Failure =>
  new Failure("too_large", "quota exceeded: the owner stores as much as is allowed");

/**
 * Refuses to store more for an owner than they may.
 *
 * Cost: a query, for an owner with a limit only.
 *
 * @throws Failure `too_large`
 */
export async function requireRoom(ctx: Ctx, owner: LimitedOwner, bytes: number): Promise<void> {
  if (bytesMaxOf(ctx, owner) < 0 || bytes <= 0) return;
  const [found] = await ctx.db
    .select({ mayStore: flagColumn(mayStore(ctx, sql`${owner.id}`, bytes), "may_store") })
    .from(sql`(select 1)`);
  if (found?.mayStore === false) throw quotaExceeded();
}
