import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { oauthApplications, type OauthApplication, type User } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";

/**
 * Finds an application of `user`.
 *
 * @throws Failure `not_found`, also for an application of somebody else.
 */
export async function findApplication(ctx: Ctx, user: User, id: number): Promise<OauthApplication> {
  const [application] = await applicationOfUser(ctx.db, { id, userId: user.id });
  if (!application) throw notFound();
  return application;
}

const applicationOfUser = prepare((db, p: Params<{ id: number; userId: number }>) =>
  db
    .select()
    .from(oauthApplications)
    .where(and(eq(oauthApplications.id, p.id), eq(oauthApplications.ownerId, p.userId))),
);
