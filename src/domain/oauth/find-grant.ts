import { eq, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import {
  oauthApplications,
  oauthGrants,
  users,
  type OauthApplication,
  type OauthGrant,
  type User,
} from "../../db/schema/index.ts";

/** A grant with the user who gave it. */
export interface GrantEntry {
  grant: OauthGrant;
  user: User;
}

/** The application of a client id, if there is one. */
export async function findClient(
  ctx: Pick<Ctx, "db">,
  clientId: string,
): Promise<OauthApplication | undefined> {
  const [application] = await selectClient(ctx.db, { clientId });
  return application;
}

/**
 * Finds the application of a client id, and the grant that a condition on `oauth_grants` matches, whoever's it is: the
 * caller compares the two.
 */
export async function findClientAndGrant(
  ctx: Pick<Ctx, "db">,
  clientId: string,
  isGrant: SQL,
): Promise<{ application: OauthApplication | undefined; entry: GrantEntry | undefined }> {
  const [[application], [entry]] = await ctx.db.batch([
    selectClient(ctx.db, { clientId }),
    ctx.db
      .select({ grant: columnsOf(oauthGrants, "g"), user: columnsOf(users, "u") })
      .from(oauthGrants)
      .innerJoin(users, eq(users.id, oauthGrants.userId))
      .where(isGrant),
  ]);
  return { application, entry };
}

const selectClient = prepare((db, p: Params<{ clientId: string }>) =>
  db.select().from(oauthApplications).where(eq(oauthApplications.clientId, p.clientId)),
);

/** Whether a user's grants are in force: accounts that may not sign in have none. */
export const mayGrant = ({ isActive, isLoginProhibited, mustChangePassword }: User): boolean =>
  isActive && !isLoginProhibited && !mustChangePassword;
