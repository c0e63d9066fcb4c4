import type { SQL } from "drizzle-orm";

import type { Params } from "../db/prepared.ts";
import { boundTokenId, seesPublicOnly, type Actor } from "./actor.ts";

/**
 * The facts that decide which rows a caller sees, as an argument of a query: the flags belong to
 * its shape, the ids are bound.
 */
export interface Principal {
  readonly isSiteAdmin: boolean;
  readonly isRestricted: boolean;
  /** Whether the caller is limited to public resources. */
  readonly isPublicOnly: boolean;
  /** Undefined for an anonymous caller. */
  readonly userId: number | undefined;
  /** The id of the caller's token where it is bound to repositories. */
  readonly boundTokenId: number | undefined;
}

/**
 * A principal in a condition: its values, the parameters of a prepared query, or flags for a user
 * whom the query itself finds.
 */
export type PrincipalSql = Principal | Params<Principal> | PrincipalOfQuery;

type PrincipalOfQuery = Omit<Principal, "userId"> & { readonly userId: SQL };

export const principalOf = (actor: Actor): Principal => ({
  isSiteAdmin: actor.isSiteAdmin,
  isRestricted: actor.user?.isRestricted ?? false,
  isPublicOnly: seesPublicOnly(actor),
  userId: actor.user?.id,
  boundTokenId: boundTokenId(actor),
});
