import { and, desc, eq, gt, isNotNull, sql } from "drizzle-orm";

import type { TokenAudience } from "../../../auth/audience.ts";
import { currentCredential, isCredentialCurrent } from "../../../auth/current-credential.ts";
import { isWithin } from "../../../auth/scope.ts";
import { hashSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  oauthApplications,
  oauthGrants,
  type OauthApplication,
  type OauthGrant,
  type User,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import type { BoundRepository } from "../tokens/find-visible-repositories.ts";
import { CODE_LIFE_MS, makeCode } from "./grant-secrets.ts";
import { redirectHostOf } from "./redirect-uri.ts";
import { formatScope, type RequestedScopes, scopesOf } from "./requested-scopes.ts";

/** The part of an authorization request that the grant stores. */
export interface Authorization {
  requested: RequestedScopes;
  /** The part of the service that its tokens are for; null for all of it. */
  audience: TokenAudience | null;
  /** The only repository that its tokens reach; null for all that the user does. */
  repository: BoundRepository | null;
  /** Null if the request named none. */
  redirectUri: string | null;
  /** The registered address to which the code goes. */
  sentTo: string;
  codeChallenge: string | null;
  nonce: string | null;
  /** When the user signed in, in milliseconds. */
  authenticatedAt: number;
}

/**
 * Grants an application what it asked for, and returns the code by which it learns of it.
 *
 * @throws Failure `conflict` if the session has ended or the application was edited meanwhile.
 */
export async function createGrant(
  ctx: Ctx,
  user: User,
  application: OauthApplication,
  { requested, repository, ...authorization }: Authorization,
): Promise<string> {
  const code = makeCode();
  const codeExpiresAt = ctx.now + CODE_LIFE_MS;
  const row = {
    ...authorization,
    id: sql`null`,
    userId: user.id,
    applicationId: application.id,
    scopes: requested.scopes.text,
    identityScopes: requested.identity.join(","),
    repoId: repository?.id ?? null,
    codeHash: await hashSecret(code),
    codeExpiresAt,
    createdAt: ctx.now,
    lastUsedAt: ctx.now,
    expiresAt: codeExpiresAt,
  };
  // Each edit of an application gives it a new secret: its addresses are still those of the
  // request.
  const isGiven = and(
    eq(oauthApplications.id, application.id),
    sql`${oauthApplications.secretHash} is ${application.secretHash}`,
    isCredentialCurrent(currentCredential(ctx.actor)),
  );
  const [granted] = await ctx.db.batch([
    insertSelect(
      ctx.db,
      oauthGrants,
      row,
      sql`from ${oauthApplications} where ${isGiven}`,
    ).returning({
      id: oauthGrants.id,
    }),
    recordIfChanged(ctx, { type: "oauth_grant.created", ownerId: user.id, name: application.name }),
    recordAuditIfChanged(ctx, {
      kind: "oauth_grant.created",
      ownerId: user.id,
      target: application.name,
      details: {
        scopes: formatScope(requested),
        audience: authorization.audience,
        repository: repository?.fullName ?? null,
        redirectHost: redirectHostOf(authorization.sentTo),
      },
    }),
  ]);
  if (granted.length === 0) {
    throw conflict("The application or your session has changed in the meantime. Try again.");
  }
  return code;
}

/** Grants of one user and application that are read to find one that covers a request. */
const COMPARED_MAX = 20;

/**
 * Whether a user already granted an application all that it asks for now, and did not revoke it
 * since.
 */
export async function isGrantedBefore(
  ctx: Ctx,
  user: User,
  application: OauthApplication,
  request: Pick<Authorization, "requested" | "audience">,
): Promise<boolean> {
  const given = { userId: user.id, applicationId: application.id, now: ctx.now };
  const grants = await latestGrants(ctx.db, given);
  return grants.some((grant) => covers(grant, request));
}

interface Given {
  readonly userId: number;
  readonly applicationId: number;
  readonly now: number;
}

const latestGrants = prepare((db, { userId, applicationId, now }: Params<Given>) =>
  db
    .select()
    .from(oauthGrants)
    .where(
      and(
        eq(oauthGrants.userId, userId),
        eq(oauthGrants.applicationId, applicationId),
        isNotNull(oauthGrants.exchangedAt),
        gt(oauthGrants.expiresAt, now),
      ),
    )
    .orderBy(desc(oauthGrants.id))
    .limit(COMPARED_MAX),
);

function covers(
  grant: OauthGrant,
  { requested: { scopes, identity }, audience }: Pick<Authorization, "requested" | "audience">,
): boolean {
  const granted = scopesOf(grant);
  return (
    // SECURITY: one that is bound to a repository covers no request, which is never for one.
    grant.repoId === null &&
    (grant.audience === null || grant.audience === audience) &&
    isWithin(scopes, granted.scopes) &&
    identity.every((name) => granted.identity.includes(name))
  );
}
