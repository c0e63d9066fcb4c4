import { asc, count, eq, gt } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { badges, type Badge } from "../../../db/schema/index.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { checkWebAddress } from "../../../lib/web-address.ts";
import { recordAudit, recordAuditIfChanged } from "../audit/record-audit.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** The input for a new badge. */
interface NewBadge {
  slug: string;
  description: string;
  imageUrl: string;
}

/** The form of the names of badges. */
export const BADGE_SLUG = /^[0-9a-z]+(?:[-_][0-9a-z]+)*$/;

/** Lists the badges that users may be given, by slug. */
export async function listBadges({ db }: Ctx, { size, offset }: Slice): Promise<Listed<Badge>> {
  return toListedPage(
    await batch(db, { rows: allBadges(db, { size, offset }), counted: badgeCount(db, {}) }),
  );
}

const allBadges = prepare((db, p: Params<Slice>) =>
  db.select().from(badges).orderBy(asc(badges.slug)).limit(p.size).offset(p.offset),
);

const badgeCount = prepare((db) =>
  db
    .select({ total: count().as("total") })
    .from(badges)
    .where(gt(badges.slug, "")),
);

/**
 * Creates a badge.
 *
 * @throws Failure `invalid` for a slug that is taken, and for an image without an HTTP URL.
 */
export async function createBadge(ctx: Ctx, input: NewBadge): Promise<Badge> {
  checkWebAddress(input.imageUrl, "image_url");
  try {
    const [created] = await ctx.db.batch([
      ctx.db.insert(badges).values(input).returning(),
      recordAudit(ctx, { kind: "badge.created", ownerId: 0, target: input.slug }),
    ]);
    return only(created);
  } catch (error) {
    if (!isViolation(error, "UNIQUE", "badges.slug")) throw error;
    throw invalid(`badge already exists [slug: ${input.slug}]`);
  }
}

/**
 * Deletes a badge, which all its users lose.
 *
 * @throws Failure `not_found` for an unknown badge.
 */
export async function deleteBadge(ctx: Ctx, slug: string): Promise<void> {
  const [deleted] = await ctx.db.batch([
    ctx.db.delete(badges).where(eq(badges.slug, slug)).returning({ id: badges.id }),
    recordAuditIfChanged(ctx, { kind: "badge.deleted", ownerId: 0, target: slug }),
  ]);
  if (deleted.length === 0) throw notFound();
}
