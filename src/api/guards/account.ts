import type { Scope } from "../../auth/scope.ts";
import type { User } from "../../db/schema/index.ts";
import { toMembership, type Membership } from "../../domain/accounts/find-account.ts";
import { authenticateRequest } from "../../entrance/authenticate-request.ts";
import { enterAccount, type AccountContext } from "../../entrance/enter-account.ts";
import { Moved } from "../../entrance/moved.ts";
import { Failure, forbidden, invalid, notFound } from "../../lib/failure.ts";
import { guard, incoming, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { renamedPath } from "./renamed-path.ts";

/** For those who may see the user or organization of the path. */
export function atAccount(
  scopes: Scope | readonly Scope[],
  rule: { allowsAnonymous: boolean },
): Guard<{ account: User }> {
  const all = [scopes].flat();
  return guard(all, rule.allowsAnonymous, async (c) => {
    const { ctx, account } = await enterNamed(c, all, "username", rule.allowsAnonymous);
    return { ctx, account };
  });
}

/** The same, for people who are signed in: where the route is about them and the account. */
export function atAccountSignedIn(...scopes: Scope[]): Guard<{ account: User; user: User }> {
  return guard(scopes, false, async (c) => {
    const { ctx, account } = await enterNamed(c, scopes, "username", false);
    return { ctx, account, user: requireUser(ctx.actor) };
  });
}

/** For the user of the path and for administrators. */
export function ownAccount(...scopes: Scope[]): Guard<{ account: User }> {
  return guard(scopes, false, async (c) => {
    const { ctx, account } = await enterNamed(c, scopes, "username", false);
    const { actor } = ctx;
    if (actor.user?.id !== account.id && !actor.isSiteAdmin) {
      throw forbidden("doer should be the site admin or be same as the contextUser");
    }
    return { ctx, account };
  });
}

/** What an organization guard may ask for beyond seeing it. */
interface OrganizationRule {
  allowsAnonymous: boolean;
  needs?: "membership" | "ownership";
  /** How an organization that does not exist for the caller is refused; by 404 where it says nothing. */
  unknown?: "invalid";
}

/** For those who may see the organization of the path. */
export function inOrg(
  scopes: Scope | readonly Scope[],
  rule: OrganizationRule,
): Guard<{ org: User; membership: Membership }> {
  const all = [scopes].flat();
  return guard(all, rule.allowsAnonymous, async (c) => {
    const org = await enterNamed(c, all, "org", rule.allowsAnonymous).catch((error: unknown) => {
      throw rule.unknown === "invalid" && isUnknown(error) ? invalid(NO_ORGANIZATION) : error;
    });
    if (org.account.kind !== "organization") {
      throw rule.unknown === "invalid" ? invalid(NO_ORGANIZATION) : notFound();
    }
    const membership = toMembership(org.ctx.actor, org);
    if (rule.needs === "membership" && !membership.isMember) {
      throw forbidden("Must be an organization member");
    }
    if (rule.needs === "ownership" && !membership.isOwner) {
      throw forbidden("Must be an organization owner");
    }
    return { ctx: org.ctx, org: org.account, membership };
  });
}

const NO_ORGANIZATION = "organization does not exist";
const isUnknown = (error: unknown): boolean =>
  error instanceof Failure && error.kind === "not_found" && !(error instanceof Moved);

/** Lets a request to the account that a parameter of its path names. */
async function enterNamed(
  c: GuardContext,
  scopes: readonly Scope[],
  parameter: "username" | "org",
  allowsAnonymous: boolean,
): Promise<AccountContext> {
  const name = c.req.param(parameter) ?? "";
  if (name === `:${parameter}`) return enterOwn(c, scopes);
  return enterAccount(incoming(c), {
    name,
    scopes,
    anonymous: allowsAnonymous ? "by-setting" : "never",
    pathAt: (renamed) => renamedPath(c, { [parameter]: renamed.name }),
    movedStatus: 307,
  });
}

/** The contract writes some paths with a literal `:username`; it stands for the caller. */
async function enterOwn(c: GuardContext, scopes: readonly Scope[]): Promise<AccountContext> {
  const { ctx } = await authenticateRequest(incoming(c), { scopes, anonymous: "never" });
  const account = requireUser(ctx.actor);
  return { ctx, account, isMember: false, isOwner: false, canCreateRepository: false };
}
