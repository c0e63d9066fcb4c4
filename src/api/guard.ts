import type { Context, MiddlewareHandler, Next } from "hono";

import type { Actor } from "../auth/actor.ts";
import { readCredential } from "../auth/credential.ts";
import { identified, identify, type Unidentified } from "../auth/identify.ts";
import { hasScope, type Scope } from "../auth/scope.ts";
import { noteTokenUse } from "../auth/note-token-use.ts";
import type { Ctx } from "../context.ts";
import { ACCESS, type Access, type User } from "../db/schema/index.ts";
import {
  isAccountNamed,
  isSeen,
  selectAccounts,
  toMembership,
  wasAccountNamed,
  type AccountRow,
  type Membership,
} from "../domain/accounts/find-account.ts";
import {
  isNamed,
  selectRepositories,
  toEntry,
  wasNamed,
  type RepositoryRow,
} from "../domain/repos/find-repository.ts";
import { Failure, forbidden, invalid, notFound, unauthenticated } from "../lib/failure.ts";
import type { RepositoryEntry } from "../shapes/repository.ts";
import type { Viewer } from "../shapes/viewer.ts";

/** What a door gives each request before its guard stands. */
export type OpenCtx = Omit<Ctx, "actor">;

/** What every guard leaves for the handler. */
export interface GuardVariables {
  open: OpenCtx;
  requestId: string;
  ctx: Ctx;
  viewer: Viewer;
}

/** A route's first middleware: who may enter, with which scopes. It declares them for the tests that list all routes. */
export type Guard<V extends object = object> = MiddlewareHandler<{
  Variables: GuardVariables & V;
}> & {
  scopes: readonly Scope[];
  /** Whether anonymous callers may enter. */
  isOpen: boolean;
};

type GuardContext = Context<{ Variables: GuardVariables }>;

/** For everybody. A credential that is sent must still be right, and reach as far as `scopes`. */
export function anyone(...scopes: Scope[]): Guard {
  return guard(scopes, true, async (c, next) => {
    await enter(c, scopes);
    await next();
  });
}

/** For people who are signed in, where the route is about themselves or about nobody. */
export function signedIn(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c, next) => {
    await enter(c, scopes);
    c.set("user", requireUser(c.var.ctx.actor));
    await next();
  });
}

/** For site administrators. */
export function siteAdmin(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c, next) => {
    await enter(c, scopes);
    const user = requireUser(c.var.ctx.actor);
    if (!c.var.ctx.actor.isSiteAdmin) throw forbidden("user should be the site admin");
    c.set("user", user);
    await next();
  });
}

/** What a repository guard may ask for beyond seeing it. */
interface RepositoryRule {
  /** The least the caller must be allowed to do; reading, where it says nothing. */
  access?: Access;
  /** Whether anonymous callers may enter; they may where reading is all that is asked. */
  isOpen?: boolean;
}

/** For those who may see the repository of the path and do there what `rule` asks. */
export function inRepo(
  scopes: Scope | readonly Scope[],
  rule: RepositoryRule = {},
): Guard<{ entry: RepositoryEntry }> {
  const all = [scopes].flat();
  const access = rule.access ?? ACCESS.read;
  const isOpen = rule.isOpen ?? access === ACCESS.read;
  return guard(all, isOpen, async (c, next) => {
    const owner = c.req.param("owner") ?? "";
    const name = c.req.param("repo") ?? "";
    const rows = await enter(c, all, (who) =>
      selectRepositories(c.var.open.db, who).where(isNamed(owner, name)),
    );
    const entry = await findEntry(c, rows?.[0]);
    if (!isOpen) requireUser(c.var.ctx.actor);
    if (entry.access < access) throw forbidden(REFUSALS[access]);
    c.set("entry", entry);
    await next();
  });
}

/** The same, for people who are signed in: where the route is about them and the repository. */
export function signedInRepo(
  ...scopes: Scope[]
): Guard<{ entry: RepositoryEntry; user: User }> {
  const enterRepo = inRepo(scopes, { isOpen: false });
  return guard(scopes, false, async (c, next) => {
    await enterRepo(c, async () => {
      c.set("user", requireUser(c.var.ctx.actor));
      await next();
    });
  });
}

const REFUSALS: Record<Access, string> = {
  [ACCESS.none]: "",
  [ACCESS.read]: "",
  [ACCESS.write]: "user should have a permission to write to a repo",
  [ACCESS.admin]: "user should be a repo admin or a site admin",
  [ACCESS.owner]: "user should be the owner of the repo",
};

/**
 * The repository of the path, or a way to where it went.
 *
 * SECURITY: a redirect is given to those only who may see its target; else it would tell that the
 * target exists.
 */
async function findEntry(c: GuardContext, row: RepositoryRow | undefined): Promise<RepositoryEntry> {
  const { ctx } = c.var;
  if (row) {
    const entry = toEntry(ctx.actor, row);
    if (entry.access === ACCESS.none) throw notFound();
    return entry;
  }
  const owner = c.req.param("owner") ?? "";
  const name = c.req.param("repo") ?? "";
  const [moved] = await selectRepositories(ctx.db, identified(ctx.actor))
    .where(wasNamed(owner, name))
    .limit(1);
  if (!moved || toEntry(ctx.actor, moved).access === ACCESS.none) throw notFound();
  const current = `/${moved.owner.name}/${moved.repo.name}`;
  throw new Moved(c, `/${owner}/${name}`, current, 301);
}

/** For those who may see the user or organization of the path. */
export function atAccount(
  scopes: Scope | readonly Scope[],
  rule: { isOpen: boolean },
): Guard<{ account: User }> {
  const all = [scopes].flat();
  return guard(all, rule.isOpen, async (c, next) => {
    const { account } = await enterAccount(c, all, "username", rule.isOpen);
    c.set("account", account);
    await next();
  });
}

/** The same, for people who are signed in: where the route is about them and the account. */
export function atAccountSignedIn(...scopes: Scope[]): Guard<{ account: User; user: User }> {
  return guard(scopes, false, async (c, next) => {
    const { account } = await enterAccount(c, scopes, "username", false);
    c.set("account", account);
    c.set("user", requireUser(c.var.ctx.actor));
    await next();
  });
}

/** For the user of the path and for administrators. */
export function ownAccount(...scopes: Scope[]): Guard<{ account: User }> {
  return guard(scopes, false, async (c, next) => {
    const { account } = await enterAccount(c, scopes, "username", false);
    const { actor } = c.var.ctx;
    if (actor.user?.id !== account.id && !actor.isSiteAdmin) {
      throw forbidden("doer should be the site admin or be same as the contextUser");
    }
    c.set("account", account);
    await next();
  });
}

/** What an organization guard may ask for beyond seeing it. */
interface OrganizationRule {
  isOpen: boolean;
  needs?: "membership";
  /** How an organization that does not exist for the caller is refused; by 404 where it says nothing. */
  unknown?: "invalid";
}

const isUnknown = (error: unknown): boolean =>
  error instanceof Failure && error.kind === "not_found" && !(error instanceof Moved);

/** For those who may see the organization of the path. */
export function inOrg(
  scopes: Scope | readonly Scope[],
  rule: OrganizationRule,
): Guard<{ org: User; membership: Membership }> {
  const all = [scopes].flat();
  return guard(all, rule.isOpen, async (c, next) => {
    const row = await enterAccount(c, all, "org", rule.isOpen).catch((error: unknown) => {
      if (rule.unknown === "invalid" && isUnknown(error)) throw invalid("organization does not exist");
      throw error;
    });
    if (row.account.kind !== "organization") {
      throw rule.unknown === "invalid" ? invalid("organization does not exist") : notFound();
    }
    const membership = toMembership(c.var.ctx.actor, row);
    if (rule.needs === "membership" && !membership.isMember) {
      throw forbidden("Must be an organization member");
    }
    c.set("org", row.account);
    c.set("membership", membership);
    await next();
  });
}

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
  const [moved] = await selectAccounts(ctx.db, identified(ctx.actor))
    .where(wasAccountNamed(name))
    .limit(1);
  if (!moved || !isSeen(ctx.actor, moved)) throw notFound();
  throw new Moved(c, `/${name}`, `/${moved.account.name}`, 307);
}

/** Looks up the caller and, in the same round trip, the place; refuses credentials that don't reach as far as `scopes`. */
async function enter<W extends Parameters<typeof identify>[4]>(
  c: GuardContext,
  scopes: readonly Scope[],
  where?: W,
) {
  const { open } = c.var;
  const query = new URL(c.req.url).searchParams;
  const credential = readCredential(c.req.header("authorization"), query);
  const sudo = c.req.header("sudo") ?? query.get("sudo") ?? undefined;
  const { actor, place } = await identify(open.db, credential, sudo, open.now, where);
  const ctx: Ctx = { ...open, actor };
  c.set("ctx", ctx);
  c.set("viewer", toViewer(ctx));

  if (actor.user === undefined && open.config.isSignInRequired && scopes.length > 0) {
    throw forbidden("Only signed in user is allowed to call APIs.");
  }
  const missing = scopes.filter((scope) => !hasScope(actor.scopes, scope));
  if (missing.length > 0) {
    throw forbidden(
      `token does not have at least one of required scope(s), required=[${missing.join(" ")}], token scope=${actor.scopes.text}`,
    );
  }
  const noting = actor.token && noteTokenUse(ctx.db, actor.token, ctx.now);
  if (noting) ctx.defer(noting);
  return place as (W extends (who: Unidentified) => infer Q
    ? Q extends { _: { result: infer R } }
      ? R
      : never
    : never) | undefined;
}

function toViewer({ actor, rootUrl, config }: Ctx): Viewer {
  return {
    userId: actor.scopes.isPublicOnly ? undefined : actor.user?.id,
    isSiteAdmin: actor.isSiteAdmin,
    rootUrl,
    noReplyDomain: config.noReplyDomain || `noreply.${new URL(rootUrl).hostname}`,
  };
}

function requireUser(actor: Actor): User {
  if (!actor.user) throw unauthenticated("token is required");
  return actor.user;
}

/** Not a refusal: the thing is elsewhere now, and the caller is sent there. */
export class Moved extends Failure {
  readonly location: string;
  readonly status: 301 | 307 | 308;

  /**
   * @param status As clients of the field expect it; a write goes by 308 instead of 301, which many
   * clients would repeat as a GET that changes nothing.
   */
  constructor(c: GuardContext, from: string, to: string, status: 301 | 307) {
    super("not_found", "moved");
    const { pathname, search } = new URL(c.req.url);
    const isRead = c.req.method === "GET" || c.req.method === "HEAD";
    // The first occurrence is the one in its own place: `/repos/o/r`, `/users/o`, `/orgs/o`.
    this.location = c.var.ctx.rootUrl + pathname.replace(from, () => to) + search;
    this.status = status === 301 && !isRead ? 308 : status;
  }
}

function guard<V extends object>(
  scopes: readonly Scope[],
  isOpen: boolean,
  handler: (c: Context<{ Variables: GuardVariables & V }>, next: Next) => Promise<void>,
): Guard<V> {
  return Object.assign(handler as MiddlewareHandler<{ Variables: GuardVariables & V }>, {
    scopes,
    isOpen,
  });
}
