import { refuseBoundWrite } from "../../auth/actor.ts";
import type { Scope } from "../../auth/scope.ts";
import type { User } from "../../db/schema/index.ts";
import {
  chooseAccountRow,
  hasName,
  selectAccountsOfName,
  toMembership,
  type Membership,
} from "../../domain/people/accounts/find-account.ts";
import { authenticate } from "../../entrance/authenticate.ts";
import { enterAccount, type AccountContext } from "../../entrance/enter-account.ts";
import { Moved, movedTo } from "../../entrance/moved.ts";
import { Failure, forbidden, invalid, notFound } from "../../lib/failure.ts";
import { guard, incoming, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { requireSiteAdmin } from "./people.ts";
import { renamedPath } from "./renamed-path.ts";

/** Admits callers who may see the user or organization of the path. */
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

/** Admits signed-in callers who may see the account of the path, for routes about both. */
export function atAccountSignedIn(...scopes: Scope[]): Guard<{ account: User; user: User }> {
  return guard(scopes, false, async (c) => {
    const { ctx, account } = await enterNamed(c, scopes, "username", false);
    return { ctx, account, user: requireUser(ctx.actor) };
  });
}

/** Admits the user of the path and site administrators; an organization has nothing of its own. */
export function ownAccount(...scopes: Scope[]): Guard<{ account: User }> {
  return guard(scopes, false, async (c) => {
    const { ctx, account } = await enterNamed(c, scopes, "username", false);
    const { actor } = ctx;
    if (actor.user?.id !== account.id && !actor.isSiteAdmin) {
      throw forbidden("doer should be the site admin or be same as the contextUser");
    }
    if (account.kind !== "user") throw notFound();
    return { ctx, account };
  });
}

/** Admits site administrators, for routes about the user of the path. */
export const userForAdmin = (...scopes: Scope[]): Guard<{ account: User }> =>
  forAdmin(scopes, ["user"]);

/** The same, for routes about the user or organization of the path. */
export const ownerForAdmin = (...scopes: Scope[]): Guard<{ account: User }> =>
  forAdmin(scopes, ["user", "organization"]);

function forAdmin(scopes: Scope[], kinds: readonly User["kind"][]): Guard<{ account: User }> {
  return guard(scopes, false, async (c) => {
    const name = c.req.param("username") ?? "";
    const request = incoming(c);
    const { ctx, target } = await authenticate(request, { scopes, anonymous: "never" }, (caller) =>
      selectAccountsOfName(request.base.db, caller, name),
    );
    // SECURITY: before the account decides anything, so that nobody else learns which names are or
    // were in use.
    requireSiteAdmin(ctx.actor);
    const row = chooseAccountRow(ctx.actor, name, target ?? []);
    if (!row || !kinds.includes(row.account.kind)) throw notFound();
    const { account } = row;
    if (hasName(row, name)) return { ctx, account };
    const path = renamedPath(c, { username: account.name });
    throw new Moved(movedTo(ctx.rootUrl, path, c.req.raw), 307);
  });
}

/** The requirement of an organization guard besides that the caller may see the organization. */
interface OrganizationRule {
  allowsAnonymous: boolean;
  needs?: "membership" | "ownership";
  /** The failure if the organization does not exist for the caller; 404 if omitted. */
  unknown?: "invalid";
}

/** Admits callers who may see the organization of the path. */
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

/** Authenticates a request and finds the account that a path parameter names. */
async function enterNamed(
  c: GuardContext,
  scopes: readonly Scope[],
  parameter: "username" | "org",
  allowsAnonymous: boolean,
): Promise<AccountContext> {
  const name = c.req.param(parameter) ?? "";
  if (name === `:${parameter}`) return enterOwn(c, scopes);
  const context = await enterAccount(incoming(c), {
    name,
    scopes,
    anonymous: allowsAnonymous ? "by-setting" : "never",
    pathAt: (renamed) => renamedPath(c, { [parameter]: renamed.name }),
  });
  refuseBoundWrite(context.ctx.actor, scopes);
  return context;
}

/** Gitea's API document has paths with a literal `:username`, which means the caller. */
async function enterOwn(c: GuardContext, scopes: readonly Scope[]): Promise<AccountContext> {
  const { ctx } = await authenticate(incoming(c), { scopes, anonymous: "never" });
  refuseBoundWrite(ctx.actor, scopes);
  const account = requireUser(ctx.actor);
  return { ctx, account, isMember: false, isOwner: false, canCreateRepository: false };
}
