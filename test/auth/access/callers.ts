import { ANONYMOUS, type Actor } from "../../../src/auth/actor.ts";
import { ALL_SCOPES, parseScopes, type Scopes } from "../../../src/auth/scope.ts";
import type { AccessToken, Mode } from "../../../src/db/schema/index.ts";
import {
  GRANTS,
  READABLE_WITHOUT_GRANT,
  REACH,
  SWITCHED,
  type Column,
  type CredentialKind,
  type Reader,
} from "./expectation.ts";
import { isMember, type AccessWorld, type Person, type Target } from "./world.ts";

/** A user, or nobody, with a credential. */
export interface Caller {
  readonly what: string;
  readonly actor: Actor;
  /** Undefined for anonymous callers. */
  readonly person: Person | undefined;
  readonly credential: CredentialKind;
}

/** Every person with each kind of credential, and the anonymous caller. */
export function callersOf({ people, tokenIds }: AccessWorld): Caller[] {
  const anonymous: Caller = {
    what: "anonymous",
    actor: ANONYMOUS,
    person: undefined,
    credential: "none",
  };
  const credentials = ["full", "public_only", "bound_to_it", "bound_elsewhere"] as const;
  const callers = people.flatMap((person) =>
    credentials.map((credential) => ({
      what: `${person.user.name} with ${credential}`,
      actor: actorOf(person, credential, tokenIds),
      person,
      credential,
    })),
  );
  return [anonymous, ...callers];
}

function actorOf(
  { user }: Person,
  credential: CredentialKind,
  { here, elsewhere }: AccessWorld["tokenIds"],
): Actor {
  const isBound = credential === "bound_to_it" || credential === "bound_elsewhere";
  const isPublicOnly = credential === "public_only";
  return {
    user,
    isSiteAdmin: user.isAdmin && credential === "full",
    credential: "token",
    scopes: isPublicOnly ? (parseScopes(["public-only", "all"]) as Scopes) : ALL_SCOPES,
    token: {
      id: credential === "bound_to_it" ? here : elsewhere,
      isBound,
      ...NO_PATTERNS,
      ...OF_NO_TASK,
    } as AccessToken,
    session: undefined,
  };
}

const NO_PATTERNS = { boundRefs: null, boundPaths: null, boundPackages: null };
const OF_NO_TASK = { taskId: null, grants: null };

/** A caller's mode in a unit, or in the repository itself, according to the tables. */
export function expected(caller: Caller, target: Target, column: Column): Mode {
  const { person, credential } = caller;
  const { repo, owner, switched } = target;
  const kind = `${repo.isPrivate ? "private" : "public"} of a ${owner.visibility} owner`;
  if (REACH.get(kind)?.[credential] !== "yes") return "none";
  if (column !== "repository" && SWITCHED.get(switched)?.[column] !== "on") {
    // Those who can enable a unit see it.
    const mode = expected(caller, target, "repository");
    return mode === "admin" || mode === "owner" ? "read" : "none";
  }
  if (person?.user.isAdmin && credential === "full") return "owner";
  const granted = GRANTS.get(roleIn(person, target))?.[column] ?? "none";
  const isReadable = READABLE_WITHOUT_GRANT.get(kind)?.[readerIn(person, target)] === "yes";
  return granted === "none" && isReadable ? "read" : granted;
}

/**
 * Roles in organizations do not apply to users' repositories, and owners are strangers to other
 * repositories.
 */
function roleIn(person: Person | undefined, { repo, owner }: Target): string {
  if (!person) return "stranger";
  const { role, user } = person;
  if (role === "owner") return user.id === repo.ownerId ? role : "stranger";
  if (owner.kind === "organization" || !isMember(role)) return role;
  return role === "mixed team and collaborator" ? "collaborator who reads" : "stranger";
}

function readerIn(person: Person | undefined, { owner }: Target): Reader {
  if (!person) return "anonymous";
  const { isRestricted } = person.user;
  if (owner.kind === "organization" && isMember(person.role)) {
    return isRestricted ? "restricted_member" : "member";
  }
  return isRestricted ? "restricted" : "plain";
}
