import { sql, type SQL } from "drizzle-orm";

import type { Params } from "../db/prepared.ts";
import { accessTokens, sessions, users } from "../db/schema/index.ts";
import { unauthenticated } from "../lib/failure.ts";
import type { Actor } from "./actor.ts";

/** The credential of a request, as an argument of a query. What it is not made of is null. */
export interface CurrentCredential {
  readonly sessionId: number | null;
  readonly tokenId: number | null;
  /** The account whose password was right, and the hash that it was compared with. */
  readonly accountId: number | null;
  readonly passwordHash: string | null;
}

export function currentCredential({
  session,
  token,
  credential,
  user,
  sudoer,
}: Actor): CurrentCredential {
  const account = credential === "basic" ? (sudoer ?? user) : undefined;
  return {
    sessionId: session?.id ?? null,
    tokenId: token?.id ?? null,
    accountId: account?.id ?? null,
    passwordHash: account?.passwordHash ?? null,
  };
}

/**
 * Whether the credential of a request has not ended since the request began. It belongs into each
 * statement that makes another credential, or changes how the account is signed in to.
 *
 * SECURITY: without it, a request under way while the password changes leaves a credential that
 * outlives the change.
 */
export const isCredentialCurrent = (p: CurrentCredential | Params<CurrentCredential>): SQL => sql`(
  (
    ${p.sessionId} is null
    or exists (select 1 from ${sessions} own where own.id = ${p.sessionId})
  )
  and (
    ${p.tokenId} is null
    or exists (select 1 from ${accessTokens} own where own.id = ${p.tokenId})
  )
  and (
    ${p.accountId} is null
    or exists (
      select 1
      from ${users} own
      where own.id = ${p.accountId}
        and own.password_hash is ${p.passwordHash}
        and own.is_active
        and not own.is_login_prohibited
    )
  )
)`;

/** The refusal of a request whose credential ended while it ran. */
export const credentialEnded = () =>
  unauthenticated("Your credential has ended in the meantime. Sign in again.");
