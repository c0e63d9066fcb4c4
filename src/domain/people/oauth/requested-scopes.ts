import {
  parseScopes,
  readStoredScopes,
  type Scope,
  SCOPE_CATEGORIES,
  type Scopes,
} from "../../../auth/scope.ts";
import type { OauthGrant } from "../../../db/schema/index.ts";
import { OauthError } from "./oauth-error.ts";

/** The scopes of OpenID Connect, in the order in which they are stored and shown. */
export const IDENTITY_SCOPES = ["openid", "profile", "email", "groups"] as const;
export type IdentityScope = (typeof IDENTITY_SCOPES)[number];

/** The scopes that an application asks for, or was granted. */
export interface RequestedScopes {
  /** The scopes of its access tokens. */
  scopes: Scopes;
  /** The OpenID Connect scopes, which decide about the claims. */
  identity: readonly IdentityScope[];
}

/** Asked for by clients of OpenID Connect that want a refresh token, which every grant has. */
const OFFLINE = "offline_access";

const isIdentity = (name: string): name is IdentityScope =>
  (IDENTITY_SCOPES as readonly string[]).includes(name);

/** As `tea` names a scope: the category alone, for reading and writing. */
const spellOut = (name: string): string =>
  (SCOPE_CATEGORIES as readonly string[]).includes(name) ? `write:${name}` : name;

/**
 * Parses the `scope` of an authorization request: names with spaces between, or commas as some of
 * Gitea's clients send them.
 *
 * Without a scope the request is for all of them, since clients that know no scopes send none; the
 * user reads so before they grant it. A request that names scopes of OpenID Connect alone is for a
 * sign-in, and opens nothing.
 *
 * SECURITY: a scope that is not known is refused, never read as more than it names.
 *
 * @param byDefault What a request without a scope is for.
 * @throws OauthError `invalid_scope`.
 */
export function parseRequestedScopes(
  text: string | undefined,
  byDefault: readonly (Scope | "all")[] = ["all"],
): RequestedScopes {
  const names = (text ?? "").split(/[\s,]+/).filter((name) => name !== "");
  const rest = names.filter((name) => !isIdentity(name) && name !== OFFLINE).map(spellOut);
  const scopes = parseScopes(names.length === 0 ? byDefault : rest);
  if ("unknown" in scopes) {
    throw new OauthError("invalid_scope", `unknown scope: ${scopes.unknown}`);
  }
  return { scopes, identity: IDENTITY_SCOPES.filter((name) => names.includes(name)) };
}

/** How much of a category the user grants; undefined for as much as is asked for. */
export type LevelChoice = "write" | "read" | "none" | undefined;

/**
 * What is left of a request once the user has chosen: never more than it asks for.
 *
 * @param choose The user's choice for a category.
 */
export function limitScopes(
  { scopes, identity }: RequestedScopes,
  choose: (category: string) => LevelChoice,
): RequestedScopes {
  const names = [...scopes.levels].map(([category, asked]) => {
    const choice = choose(category);
    return choice === "none" ? "" : `${choice === "read" ? "read" : asked}:${category}`;
  });
  const limited = parseScopes([...(scopes.isPublicOnly ? ["public-only"] : []), ...names]);
  if ("unknown" in limited) throw new Error("requested scopes are known");
  return { scopes: limited, identity };
}

/** The scopes of a stored grant. */
export const scopesOf = (
  grant: Pick<OauthGrant, "scopes" | "identityScopes">,
): RequestedScopes => ({
  scopes: readStoredScopes(grant.scopes),
  identity: grant.identityScopes.split(",").filter(isIdentity),
});

/** The scopes as clients read them: names with spaces between. */
export const formatScope = ({ scopes, identity }: RequestedScopes): string =>
  [...identity, ...scopes.text.split(",")].filter((name) => name !== "").join(" ");
