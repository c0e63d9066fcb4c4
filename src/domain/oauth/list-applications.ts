import { count, desc, eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { oauthApplications, type OauthApplication, type User } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** Lists the applications that a user registered, newest first. */
export async function listApplications(
  ctx: Ctx,
  user: User,
  { size, offset }: Slice,
): Promise<Listed<OauthApplication>> {
  const isOfUser = eq(oauthApplications.ownerId, user.id);
  const [items, [counted]] = await ctx.db.batch([
    ctx.db
      .select()
      .from(oauthApplications)
      .where(isOfUser)
      .orderBy(desc(oauthApplications.id))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: count().as("total") })
      .from(oauthApplications)
      .where(isOfUser),
  ]);
  return { items, total: counted?.total ?? 0 };
}
