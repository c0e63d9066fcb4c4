import type { Context, MiddlewareHandler, Next } from "hono";
import { routePath } from "hono/route";

import type { Actor } from "../auth/actor.ts";
import { readCredential } from "../auth/credential.ts";
import { identified, identify, type Unidentified } from "../auth/identify.ts";
import { hasScope, type Scope } from "../auth/scope.ts";
import { noteTokenUse } from "../auth/note-token-use.ts";
import type { Ctx, OpenCtx } from "../context.ts";
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
  return guard(scopes, true, async (c) => {
    await enter(c, scopes);
    return {};
  });
}

/** For people who are signed in, where the route is about themselves or about nobody. */
export function signedIn(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c) => {
    await enter(c, scopes);
    return { user: requireUser(c.var.ctx.actor) };
  });
}

/** For site administrators. */
export function siteAdmin(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c) => {
    await enter(c, scopes);
    const { actor } = c.var.ctx;
    const user = requireUser(actor);
    if (!actor.isSiteAdmin) throw forbidden("user should be the site admin");
    return { user };
  });
}

/** What a repository guard may ask for beyond seeing it. */
interface RepositoryRule {
  /** The least the caller must be allowed to do; reading, where it says nothing. */
  access?: Access;
}

/** For those who may see the repository of the path and do there what `rule` asks. */
export function inRepo(
  scopes: Scope | readonly Scope[],
  rule: RepositoryRule = {},
): Guard<{ entry: RepositoryEntry }> {
  const all = [scopes].flat();
  const isOpen = (rule.access ?? ACCESS.read) === ACCESS.read;
  return guard(all, isOpen, async (c) => ({
    entry: await enterRepository(c, all, rule.access ?? ACCESS.read),
  }));
}

/** For people who are signed in and may see the repository: where the route is about both. */
export function signedInRepo(...scopes: Scope[]): Guard<{ entry: RepositoryEntry; user: User }> {
  return guard(scopes, false, async (c) => {
    const entry = await enterRepository(c, scopes, ACCESS.read);
    return { entry, user: requireUser(c.var.ctx.actor) };
  });
}

async function enterRepository(
  c: GuardContext,
  scopes: readonly Scope[],
  access: Access,
): Promise<RepositoryEntry> {
  const { owner = "", repo: name = "" } = c.req.param();
  const rows = await enter(c, scopes, (who) =>
    selectRepositories(c.var.open.db, who).where(isNamed(owner, name)),
  );
  const entry = await findEntry(c, rows?.[0], owner, name);
  if (access > ACCESS.read) requireUser(c.var.ctx.actor);
  if (entry.access < access) throw forbidden(REFUSALS[access]);
  return entry;
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
async function findEntry(
  c: GuardContext,
  row: RepositoryRow | undefined,
  owner: string,
  name: string,
): Promise<RepositoryEntry> {
  const { ctx } = c.var;
  if (row) {
    const entry = toEntry(ctx.actor, row);
    if (entry.access === ACCESS.none) throw notFound();
    return entry;
  }
  const [moved] = await selectRepositories(ctx.db, identified(ctx.actor))
    .where(wasNamed(owner, name))
    .limit(1);
  if (!moved || toEntry(ctx.actor, moved).access === ACCESS.none) throw notFound();
  throw new Moved(c, { owner: moved.owner.name, repo: moved.repo.name }, 301);
}

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
  needs?: "membership";
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
  const [moved] = await selectAccounts(ctx.db, identified(ctx.actor))
    .where(wasAccountNamed(name))
    .limit(1);
  if (!moved || !isSeen(ctx.actor, moved)) throw notFound();
  throw new Moved(c, { [parameter]: moved.account.name }, 307);
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
  const sudo = c.req.header("sudo") || query.get("sudo") || undefined;
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
  return place as
    | (W extends (who: Unidentified) => infer Q
        ? Q extends { _: { result: infer R } }
          ? R
          : never
        : never)
    | undefined;
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
   * @param names  What the parameters of the path are called now.
   * @param status As clients of the field expect it; a write goes by 308 instead of 301, which many
   * clients would repeat as a GET that changes nothing.
   */
  constructor(c: GuardContext, names: Record<string, string>, status: 301 | 307) {
    super("not_found", "moved");
    const { pathname, search } = new URL(c.req.url);
    const isRead = c.req.method === "GET" || c.req.method === "HEAD";
    // By place, not by text: a user may be called `v1` or `users`, and a name may be sent escaped.
    const pattern = routePath(c).split("/");
    const segments = pathname
      .split("/")
      .map((segment, at) => names[pattern[at]?.replace(/^:/, "") ?? ""] ?? segment);
    this.location = c.var.ctx.rootUrl + segments.join("/") + search;
    this.status = status === 301 && !isRead ? 308 : status;
  }
}

/** Makes a guard of a function that lets a request in, and says what it leaves for the handler. */
function guard<V extends object>(
  scopes: readonly Scope[],
  isOpen: boolean,
  admit: (c: GuardContext) => Promise<V>,
): Guard<V> {
  const handler = async (c: GuardContext, next: Next) => {
    for (const [name, value] of Object.entries(await admit(c))) c.set(name as "ctx", value as Ctx);
    await next();
  };
  return Object.assign(handler as unknown as MiddlewareHandler<{ Variables: GuardVariables & V }>, {
    scopes,
    isOpen,
  });
}
