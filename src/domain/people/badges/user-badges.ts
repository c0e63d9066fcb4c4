import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { badges, userBadges, type Badge, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { invalid } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** Badges in one request. */
export const SLUGS_MAX = 50;

/** Lists a user's badges, by slug. */
export async function listUserBadges(
  { db }: Ctx,
  { id }: Pick<User, "id">,
  { size, offset }: Slice,
): Promise<Listed<Badge>> {
  return toListedPage(
    await batch(db, {
      rows: badgesOfUser(db, { userId: id, size, offset }),
      counted: badgeCountOfUser(db, { userId: id }),
    }),
  );
}

interface OfUser {
  readonly userId: number;
}

const isOfUser = ({ userId }: Params<OfUser>) => eq(userBadges.userId, userId);

const badgesOfUser = prepare((db, p: Params<OfUser & Slice>) =>
  db
    .select()
    .from(badges)
    .where(sql`${badges.id} in (select badge_id from ${userBadges} where ${isOfUser(p)})`)
    .orderBy(asc(badges.slug))
    .limit(p.size)
    .offset(p.offset),
);

const badgeCountOfUser = prepare((db, p: Params<OfUser>) =>
  db
    .select({ total: count().as("total") })
    .from(userBadges)
    .where(isOfUser(p)),
);

/**
 * Gives badges to a user. Idempotent.
 *
 * @throws Failure `invalid` if there is no badge of a slug; none is given then.
 */
export async function addUserBadges(ctx: Ctx, user: User, slugs: readonly string[]): Promise<void> {
  const { db } = ctx;
  const found = await db.select({ slug: badges.slug }).from(badges).where(isAmong(slugs));
  const missing = slugs.find((slug) => !found.some((badge) => badge.slug === slug));
  if (missing !== undefined) throw invalid(`badge with slug ${missing} doesn't exist`);
  const given = insertSelect(
    db,
    userBadges,
    { userId: user.id, badgeId: badges.id },
    sql`from ${badges} where ${isAmong(slugs)}`,
  ).onConflictDoNothing();
  await db.batch([given, ...records(ctx, user, { added: [...slugs], removed: [] })]);
}

/** Takes badges away from a user. Idempotent. */
export async function removeUserBadges(
  ctx: Ctx,
  user: User,
  slugs: readonly string[],
): Promise<void> {
  const { db } = ctx;
  const taken = db.delete(userBadges).where(
    sql`
      ${userBadges.userId} = ${user.id}
      and ${userBadges.badgeId} in (select id from ${badges} where ${isAmong(slugs)})`,
  );
  await db.batch([taken, ...records(ctx, user, { added: [], removed: [...slugs] })]);
}

/** One bound value for any number of slugs. */
const isAmong = (slugs: readonly string[]): SQL =>
  sql`${badges.slug} in (select value from json_each(${JSON.stringify(slugs)}))`;

const records = (ctx: Ctx, user: User, details: { added: string[]; removed: string[] }) =>
  [
    recordIfChanged(ctx, { type: "user.edited", ownerId: user.id, changed: ["badges"] }),
    recordAuditIfChanged(ctx, { kind: "user.badges_changed", ownerId: user.id, details }),
  ] as const;
