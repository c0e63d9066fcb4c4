import { sql } from "drizzle-orm";

import { type Actor, refuseBound } from "../../../auth/actor.ts";
import {
  credentialEnded,
  type CurrentCredential,
  currentCredential,
  isCredentialCurrent,
} from "../../../auth/current-credential.ts";
import { isWithin, parseScopes, type Scopes } from "../../../auth/scope.ts";
import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED, withFields } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import {
  accessTokenRepositories,
  accessTokens,
  type AccessToken,
  type User,
} from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { forbidden, invalidField, malformed } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { auditArgument, type AuditArgument, recordAuditBy } from "../audit/record-audit.ts";
import { tokenCountMaxOf } from "../quotas/owner-quota.ts";
import { checkPatterns, type PatternBinding } from "./check-patterns.ts";
import { findVisibleRepositories } from "./find-visible-repositories.ts";

/** The input for a new token. */
export interface NewAccessToken {
  name: string;
  scopes: readonly string[];
  /** When the token expires, in milliseconds; null for never. */
  expiresAt: number | null;
  /** Full names of the repositories that the token is bound to; null for an unbound token. */
  repositories: readonly string[] | null;
  /** Patterns of what else the token is bound to; null where it is not. */
  bindings: Readonly<Record<PatternBinding, readonly string[] | null>>;
}

/** Maximum number of repositories a token may be bound to. */
export const BOUND_MAX = 100;

/**
 * Creates an access token for `user`. The secret is returned here and not stored. A token that
 * another token makes ends with it.
 *
 * @throws Failure `unauthenticated` if the caller's credential has ended meanwhile, `malformed` for
 * invalid scopes and a name that is taken, `forbidden` for a token wider than the caller's own,
 * for a caller that is an application, and beyond the number of tokens that the user may have,
 * `invalid` for an expiry in the past, for repositories that the caller may not see, and for
 * patterns that match nothing.
 */
export async function createAccessToken(
  ctx: Ctx,
  user: User,
  input: NewAccessToken,
): Promise<{ token: AccessToken; secret: string; boundTo: string[] }> {
  const scopes = parseScopes(input.scopes);
  if ("unknown" in scopes) {
    throw malformed(
      `invalid access token scope provided: invalid access token scope: ${scopes.unknown}`,
    );
  }
  if (scopes.levels.size === 0) throw malformed("access token must have a scope");
  if (input.expiresAt !== null && input.expiresAt <= ctx.now) {
    throw invalidField("expires_at", "must be in the future");
  }
  checkPatterns(input.bindings);
  refuseWidening(ctx.actor, scopes, input);
  const bound =
    input.repositories === null
      ? []
      : await findVisibleRepositories(ctx, input.repositories, "repositories");

  const secret = makeSecret();
  const secretHash = await hashSecret(secret);
  const { id: userId } = user;
  const countMax = tokenCountMaxOf(ctx, user);
  const insertion = insertToken(ctx.db, {
    row: boundRow(accessTokens, {
      userId,
      name: input.name,
      secretHash,
      lastEight: secret.slice(-8),
      scopes: scopes.text,
      expiresAt: input.expiresAt,
      isBound: input.repositories !== null,
      boundRefs: input.bindings.refs,
      boundPaths: input.bindings.paths,
      boundPackages: input.bindings.packages,
      createdAt: ctx.now,
      madeById: ctx.actor.token?.id ?? null,
    }),
    countMax: countMax < 0 ? undefined : countMax,
    repoIds: bound.map(({ id }) => id),
    maker: currentCredential(ctx.actor),
    audit: auditArgument(ctx, {
      kind: "access_token.created",
      ownerId: userId,
      target: input.name,
      details: {
        tokenId: COMPUTED,
        scopes: scopes.text,
        expiresAt: input.expiresAt,
        repositories: input.repositories === null ? null : bound.map((repo) => repo.fullName),
        ...input.bindings,
      },
    }),
  });
  try {
    const { created } = await batch(ctx.db, {
      created: insertion.created,
      bound: insertion.bound,
      event: record(ctx, { type: "access_token.created", ownerId: userId, name: input.name }),
      audit: insertion.audit,
    });
    return { token: only(created), secret, boundTo: bound.map(({ fullName }) => fullName) };
  } catch (error) {
    if (isViolation(error, "UNIQUE", "access_tokens.user_id")) {
      throw malformed("access token name has been used already");
    }
    if (isViolation(error, "NOT NULL", "access_tokens.secret_hash")) throw credentialEnded();
    if (isViolation(error, "NOT NULL", "access_tokens.name")) {
      throw forbidden("quota exceeded: the user has as many access tokens as are allowed");
    }
    throw error;
  }
}

interface InsertedToken {
  /** How many access tokens the user may have; undefined for any number. */
  readonly countMax: number | undefined;
  readonly row: BoundRow<typeof accessTokens.$inferInsert>;
  readonly repoIds: readonly number[];
  readonly maker: CurrentCredential;
  readonly audit: AuditArgument;
}

const insertToken = prepareAll((db, p: Params<InsertedToken>) => {
  const { row, countMax, repoIds, maker, audit } = p;
  const newId = sql<number>`(
    select ${accessTokens.id}
    from ${accessTokens}
    where ${accessTokens.secretHash} = ${row.secretHash}
  )`;
  return {
    created: db
      .insert(accessTokens)
      .values({
        ...row,
        secretHash: onlyWhile(isCredentialCurrent(maker), sql`${row.secretHash}`),
        ...(countMax && {
          name: onlyWhile(
            sql`(select count(*) from ${accessTokens} where user_id = ${row.userId}) < ${countMax}`,
            sql`${row.name}`,
          ),
        }),
      })
      .returning(),
    bound: insertSelect(
      db,
      accessTokenRepositories,
      { tokenId: newId, repoId: sql`value` },
      sql`from ${repoIds}`,
    ),
    audit: recordAuditBy(db, audit, { details: withFields(audit.details, { tokenId: newId }) }),
  };
});

/**
 * SECURITY: a token can't create a token with more scopes or a later expiry than its own. A token
 * that is bound to anything creates none, and neither does the token of an application: what the
 * application made would outlive the hour of its token, and would not be among the applications
 * that the user can revoke.
 */
function refuseWidening(actor: Actor, requested: Scopes, input: NewAccessToken): void {
  const { token, scopes } = actor;
  if (!token) return;
  if (token.grantId !== null) throw forbidden("the token of an application can't create tokens");
  refuseBound(actor);
  const refusal = "a token can't create a token wider than itself";
  if (!isWithin(requested, scopes)) throw forbidden(refusal);
  if (token.expiresAt !== null && (input.expiresAt ?? Infinity) > token.expiresAt) {
    throw forbidden(refusal);
  }
}
