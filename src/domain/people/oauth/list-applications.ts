import { count, desc, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { oauthApplications, type OauthApplication, type User } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** Lists the applications that a user registered, newest first. */
export async function listApplications(
  ctx: Ctx,
  user: User,
  { size, offset }: Slice,
): Promise<Listed<OauthApplication>> {
  return toListedPage(
    await batch(ctx.db, {
      rows: applicationsOfUser(ctx.db, { userId: user.id, size, offset }),
      counted: applicationCount(ctx.db, { userId: user.id }),
    }),
  );
}

interface OfUser {
  readonly userId: number;
}

const isOfUser = ({ userId }: Params<OfUser>) => eq(oauthApplications.ownerId, userId);

const applicationsOfUser = prepare((db, p: Params<OfUser & Slice>) =>
  db
    .select()
    .from(oauthApplications)
    .where(isOfUser(p))
    .orderBy(desc(oauthApplications.id))
    .limit(p.size)
    .offset(p.offset),
);

const applicationCount = prepare((db, p: Params<OfUser>) =>
  db
    .select({ total: count().as("total") })
    .from(oauthApplications)
    .where(isOfUser(p)),
);
