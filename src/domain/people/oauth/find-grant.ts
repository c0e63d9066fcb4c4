import { and, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  oauthApplications,
  oauthGrants,
  users,
  type OauthApplication,
  type OauthGrant,
  type User,
} from "../../../db/schema/index.ts";

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
 * Finds the application of a client id, and the grant that a condition on `oauth_grants` matches.
 * The grant may be one of another application: the caller compares the two.
 */
export async function findClientAndGrant(
  ctx: Pick<Ctx, "db">,
  clientId: string,
  isGrant: SQL,
): Promise<{ application: OauthApplication | undefined; entry: GrantEntry | undefined }> {
  const { applications, grants } = await batch(ctx.db, {
    applications: selectClient(ctx.db, { clientId }),
    grants: ctx.db
      .select({ grant: columnsOf(oauthGrants, "g"), user: columnsOf(users, "u") })
      .from(oauthGrants)
      .innerJoin(users, eq(users.id, oauthGrants.userId))
      .where(isGrant),
  });
  return { application: applications[0], entry: grants[0] };
}

const selectClient = prepare((db, p: Params<{ clientId: string }>) =>
  db
    .select()
    .from(oauthApplications)
    .where(and(eq(oauthApplications.clientId, p.clientId), mayServe)),
);

/** Matches applications of the service and of accounts that may sign in: others act for nobody. */
export const mayServe: SQL = sql`not exists (
  select 1
  from ${users} owner
  where owner.id = ${oauthApplications.ownerId}
    and (not owner.is_active or owner.is_login_prohibited)
)`;

/** Whether a user's grants are in force: accounts that may not sign in have none. */
export const mayGrant = ({ isActive, isLoginProhibited, mustChangePassword }: User): boolean =>
  isActive && !isLoginProhibited && !mustChangePassword;

/**
 * Whether a grant is still one of the same application and of a user who may sign in, for the
 * statement that issues its tokens. Each edit of an application gives it a new secret.
 */
export const isStillInForce = ({ userId }: OauthGrant, application: OauthApplication): SQL => sql`(
  exists (
    select 1
    from ${users} giver
    where giver.id = ${userId}
      and giver.is_active
      and not giver.is_login_prohibited
      and not giver.must_change_password
  )
  and exists (
    select 1
    from ${oauthApplications} client
    where client.id = ${application.id} and client.secret_hash is ${application.secretHash}
  )
)`;
