import { and, desc, eq, gt, isNotNull, max, min, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  oauthApplications,
  type OauthApplication,
  oauthGrants,
  repositories,
  users,
  type User,
} from "../../../db/schema/index.ts";
import { type IdentityScope, IDENTITY_SCOPES } from "./requested-scopes.ts";
import { parseScopes, type Scopes } from "../../../auth/scope.ts";

/** Applications that a page lists. */
const LISTED_MAX = 200;

/** An application that has access to a user's account. */
export interface GrantedApplication {
  applicationId: number;
  name: string;
  /** The name of the user who registered it; null for a client of the service. */
  ownerName: string | null;
  registration: OauthApplication["registration"];
  /** The URL of the document that describes it, for an application that has one. */
  clientId: string;
  /** The scopes of all grants together. */
  scopes: Scopes;
  identity: readonly IdentityScope[];
  /**
   * Full names of the repositories that it is bound to, as far as the caller may see them; null if
   * it is bound to none.
   */
  repositories: readonly string[] | null;
  /** When access was granted first, and when tokens were issued last, in milliseconds. */
  grantedAt: number;
  lastUsedAt: number;
}

/** Lists the applications that have access to a user's account, the last used first. */
export async function listGranted(ctx: Ctx, user: User): Promise<GrantedApplication[]> {
  const rows = await grantedBy(ctx.db, {
    userId: user.id,
    principal: principalOf(ctx.actor),
    now: ctx.now,
  });
  return rows.map((row) => ({
    applicationId: row.applicationId,
    name: row.name,
    ownerName: row.ownerName,
    registration: row.registration,
    clientId: row.clientId,
    scopes: unite(row.scopes, row.isPublicOnly === 1),
    identity: IDENTITY_SCOPES.filter((name) => row.identity.split(",").includes(name)),
    repositories: row.isBound === 1 ? listNames(row.repositories) : null,
    grantedAt: row.grantedAt ?? 0,
    lastUsedAt: row.lastUsedAt ?? 0,
  }));
}

const repoOwners = alias(users, "repo_owner");

const listNames = (text: string): string[] =>
  text
    .split(",")
    .filter((name) => name !== "")
    .toSorted();

interface Granter {
  readonly userId: number;
  readonly principal: Principal;
  readonly now: number;
}

const grantedBy = prepare((db, { userId, principal, now }: Params<Granter>) => {
  const lastUsedAt = max(oauthGrants.lastUsedAt);
  return db
    .select({
      applicationId: oauthApplications.id,
      name: oauthApplications.name,
      ownerName: users.name,
      registration: oauthApplications.registration,
      clientId: oauthApplications.clientId,
      scopes: sql<string>`group_concat(distinct ${oauthGrants.scopes})`,
      isPublicOnly: sql<number>`min(${oauthGrants.scopes} like 'public-only%')`,
      identity: sql<string>`group_concat(distinct ${oauthGrants.identityScopes})`,
      isBound: sql<number>`min(${oauthGrants.repoId} is not null)`,
      repositories: sql<string>`
        coalesce(group_concat(distinct ${repoOwners.name} || '/' || ${repositories.name}), '')`,
      grantedAt: min(oauthGrants.createdAt),
      lastUsedAt,
    })
    .from(oauthGrants)
    .innerJoin(oauthApplications, eq(oauthApplications.id, oauthGrants.applicationId))
    .leftJoin(users, eq(users.id, oauthApplications.ownerId))
    .leftJoin(
      repositories,
      and(eq(repositories.id, oauthGrants.repoId), isRepositoryVisible(principal)),
    )
    .leftJoin(repoOwners, eq(repoOwners.id, repositories.ownerId))
    .where(
      and(
        eq(oauthGrants.userId, userId),
        isNotNull(oauthGrants.exchangedAt),
        gt(oauthGrants.expiresAt, now),
      ),
    )
    .groupBy(oauthApplications.id)
    .orderBy(desc(lastUsedAt))
    .limit(LISTED_MAX);
});

/** The union of stored scopes: limited to what is public only if each of them is. */
function unite(text: string, isPublicOnly: boolean): Scopes {
  const names = text.split(",").filter((name) => isPublicOnly || name !== "public-only");
  const scopes = parseScopes(names);
  if ("unknown" in scopes) throw new Error("stored scopes are known");
  return scopes;
}
