import { callerSql } from "../../auth/caller-sql.ts";
import type { Scope } from "../../auth/scope.ts";
import type { User } from "../../db/schema/index.ts";
import {
  isAccountNamed,
  isSeen,
  selectAccounts,
  toMembership,
  wasAccountNamed,
  type AccountRow,
  type Membership,
} from "../../domain/accounts/find-account.ts";
import { Failure, forbidden, invalid, notFound } from "../../lib/failure.ts";
import { enter, guard, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { Moved } from "./moved.ts";

/** For those who may see the user or organization of the path. */
export function atAccount(
  scopes: Scope | readonly Scope[],
  rule: { isOpen: boolean },
): Guard<{ account: User }> {
  const all = [scopes].flat();
  return guard(all, rule.isOpen, async (c) => {
    const { account } = await enterAccount(c, all, "username", rule.isOpen);
    return { account };
  });
}

/** The same, for people who are signed in: where the route is about them and the account. */
export function atAccountSignedIn(...scopes: Scope[]): Guard<{ account: User; user: User }> {
  return guard(scopes, false, async (c) => {
    const { account } = await enterAccount(c, scopes, "username", false);
    return { account, user: requireUser(c.var.ctx.actor) };
  });
}

/** For the user of the path and for administrators. */
export function ownAccount(...scopes: Scope[]): Guard<{ account: User }> {
  return guard(scopes, false, async (c) => {
    const { account } = await enterAccount(c, scopes, "username", false);
    const { actor } = c.var.ctx;
    if (actor.user?.id !== account.id && !actor.isSiteAdmin) {
      throw forbidden("doer should be the site admin or be same as the contextUser");
    }
    return { account };
  });
}

/** What an organization guard may ask for beyond seeing it. */
interface OrganizationRule {
  isOpen: boolean;
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
  return guard(all, rule.isOpen, async (c) => {
    const org = await enterAccount(c, all, "org", rule.isOpen).catch((error: unknown) => {
      throw rule.unknown === "invalid" && isUnknown(error) ? invalid(NO_ORGANIZATION) : error;
    });
    if (org.account.kind !== "organization") {
      throw rule.unknown === "invalid" ? invalid(NO_ORGANIZATION) : notFound();
    }
    const membership = toMembership(c.var.ctx.actor, org);
    if (rule.needs === "membership" && !membership.isMember) {
      throw forbidden("Must be an organization member");
    }
    if (rule.needs === "ownership" && !membership.isOwner) {
      throw forbidden("Must be an organization owner");
    }
    return { org: org.account, membership };
  });
}

const NO_ORGANIZATION = "organization does not exist";
const isUnknown = (error: unknown): boolean =>
  error instanceof Failure && error.kind === "not_found" && !(error instanceof Moved);

async function enterAccount(
  c: GuardContext,
  scopes: readonly Scope[],
  parameter: "username" | "org",
  isOpen: boolean,
): Promise<AccountRow> {
  const name = c.req.param(parameter) ?? "";
  const rows = await enter(c, scopes, (who) =>
    selectAccounts(c.var.open.db, who).where(isAccountNamed(name)),
  );
  const { ctx } = c.var;
  if (!isOpen) requireUser(ctx.actor);
  // The contract writes some paths with a literal `:username`; it stands for the caller.
  if (name === `:${parameter}`) {
    const account = requireUser(ctx.actor);
    return { account, isMember: false, isOwner: false, canCreateRepository: false };
  }
  const row = rows?.[0];
  if (row) {
    if (!isSeen(ctx.actor, row)) throw notFound();
    return row;
  }
  const [moved] = await selectAccounts(ctx.db, callerSql(ctx.actor))
    .where(wasAccountNamed(name))
    .limit(1);
  if (!moved || !isSeen(ctx.actor, moved)) throw notFound();
  throw new Moved(c, { [parameter]: moved.account.name }, 307);
}
