import { and, eq, sql, type SQL } from "drizzle-orm";

import { users, type User } from "../../../db/schema/index.ts";

/**
 * The clauses that select the account of a sign-in while it is as it was when its step succeeded:
 * with the same password and second factors, and allowed to sign in.
 *
 * SECURITY: a step takes a moment, and what it opens must not outlive a change that happens
 * meanwhile.
 */
export const fromSameSignIn = ({ id, passwordHash, hasTotp, hasWebauthn }: User): SQL =>
  sql`from ${users} where ${and(
    eq(users.id, id),
    sql`${users.passwordHash} is ${passwordHash}`,
    eq(users.hasTotp, hasTotp),
    eq(users.hasWebauthn, hasWebauthn),
    eq(users.isActive, true),
    eq(users.isLoginProhibited, false),
  )}`;
