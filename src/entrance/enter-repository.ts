import { requireAdministrationInReach } from "../auth/access/credential-reach.ts";
import { isAllowed } from "../auth/access/permission.ts";
import { TO_SEE, type Requirement } from "../auth/access/requirement.ts";
import { type Actor, boundTokenId } from "../auth/actor.ts";
import type { CallerArgument } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import { type RuleRow, selectRulesByName, toRules } from "../domain/protections/select-rules.ts";
import {
  findRenamed,
  selectNamedOrRelated,
  selectRepositoryNamed,
  toRepositoryContext,
  type RepositoryRow,
} from "../domain/repos/find-repository.ts";
import { Failure } from "../lib/failure.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import { authenticate, type TargetQuery } from "./authenticate.ts";
import type { Door, IncomingRequest, Requirements } from "./door.ts";
import { type InShard, inShard, type OwnQueries } from "./in-shard.ts";
import { Moved, movedTo } from "./moved.ts";
import { type PathSubject, refuseInStep } from "./refuse-in-step.ts";

/** The repository that a request names, with the requirements of the route. */
export interface RepositoryTarget extends Requirements {
  owner: string;
  name: string;
  /** The permission that the route requires. For more than `read` the caller must be signed in. */
  requirement: Requirement;
  /** Whether the rules of branches and tags are loaded; by default those who change the code or releases need them. */
  showsRules?: boolean | undefined;
  /** Whether the route may change a repository that is being migrated. */
  whileMigrating?: boolean | undefined;
  /**
   * `first` for a request that is about the repository as one of the directory: its row, who has access, stars. By default it is about
   * the repository's own data.
   */
  database?: "first" | undefined;
  /** What the request is about below the repository, for what a mirror keeps in step. */
  subject?: PathSubject | undefined;
  /** The path of this request under a renamed repository. */
  pathAt(renamed: RepositoryContext): string;
  /** Creates the repository if it does not exist and the request may create it. */
  createMissing?(ctx: Ctx): Promise<RepositoryContext | undefined>;
}

/** The context of a request for a repository. */
export interface RequestContext {
  ctx: Ctx;
  repo: RepositoryContext;
}

/**
 * Authenticates a request and resolves the repository that it names.
 *
 * @throws Failure as `authenticate` does, and the door's refusal for a repository that does not exist
 * or that the caller may not see, and for a caller without the required permission in it.
 * @throws Moved where the repository has been renamed.
 */
export async function enterRepository(
  incoming: IncomingRequest,
  target: RepositoryTarget,
): Promise<RequestContext> {
  const { directory } = incoming.base;
  const select = needsRules(target)
    ? (db: Database, caller: CallerArgument) => [selectRulesByName(db, target, caller)] as const
    : undefined;
  const {
    ctx: found,
    target: rows,
    more,
  } = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoryNamed(directory, caller, target),
    select && ((caller) => select(directory, caller)),
  );
  const { ctx, repo, own } = await findPermitted(incoming, found, target, rows?.[0], {
    loaded: more,
    select,
  });
  return { ctx, repo: own && rows?.[0] ? withRules(repo, own[0]) : repo };
}

/** The repository with its rules, from rows that came with it. */
export const withRules = (
  repo: RepositoryContext,
  rows: readonly RuleRow[],
): RepositoryContext => ({
  ...repo,
  rules: toRules(repo.row, rows),
});

/** Whether the rules of branches and tags decide about a request: about each change of the code, and of releases' tags. */
export const needsRules = ({
  requirement: { unit, mode },
  showsRules,
}: RepositoryTarget): boolean =>
  showsRules ?? ((unit === "code" || unit === "releases") && mode === "write");

/** Names repositories of the target's fork network: by their owner, or by owner and name. */
export interface RelativeName {
  owner: string;
  repo: string | undefined;
}

/**
 * Like `enterRepository`, and also resolves `relative` to those repositories of the fork network that the
 * caller may see.
 */
export async function enterNetwork(
  incoming: IncomingRequest,
  target: RepositoryTarget,
  relative: RelativeName,
): Promise<RequestContext & { relatives: RepositoryContext[] }> {
  const { owner, name } = target;
  const { ctx: found, target: rows = [] } = await authenticate(incoming, target, (caller) =>
    selectNamedOrRelated(incoming.base.directory, caller, target, relative),
  );
  const { ctx, repo } = await findPermitted(
    incoming,
    found,
    target,
    rows.find((row) => hasName(row, { owner, repo: name })),
  );
  const relatives = rows
    .filter((row) => hasName(row, relative))
    .map((row) => toRepositoryContext(ctx.actor, row))
    .filter((each) => isAllowed(each, TO_SEE));
  return { ctx, repo, relatives };
}

const hasName = (row: RepositoryRow, { owner, repo }: RelativeName): boolean =>
  row.owner.lowerName === owner.toLowerCase() &&
  (repo === undefined || row.repo.lowerName === repo.toLowerCase());

/**
 * Resolves the row of a name to a repository in which the caller has the permission that the route requires, and goes on in
 * the database with its own data.
 *
 * @param own Queries of its own data, with what the first database answered to them.
 */
export async function findPermitted<const R extends readonly TargetQuery[]>(
  incoming: IncomingRequest,
  found: Ctx,
  target: RepositoryTarget,
  row: RepositoryRow | undefined,
  { loaded, select }: OwnQueries<R> = {},
): Promise<InShard<R>> {
  const { actor, config } = found;
  const { door } = incoming;
  const resolved = await resolveRepository(incoming, found, target, row);
  if (target.requirement.mode !== "read" && !actor.user) throw door.refuseAnonymous(config);
  door.requireAccess(actor, resolved, target.requirement);
  refuseWhileMigrating(resolved, target);
  const isWrite = target.scopes.some((scope) => scope.startsWith("write:"));
  if (isWrite && isAdministration(target.requirement)) requireAdministrationInReach(actor);
  if (target.database === "first") return { ctx: found, repo: resolved, own: loaded };
  if (!isRead(incoming.raw)) found.eventQueues.noteChanged(resolved.row.shard);
  const entered = await inShard(found, resolved, { loaded, select, isWrite });
  await refuseInStep(entered.ctx, entered.repo, target);
  return entered;
}

/** Scopes whose requests change what a migration writes. */
const CHANGING: ReadonlySet<string> = new Set(["write:repository", "write:issue"]);

/**
 * Refuses changes of a repository that is being migrated: they would come between what is still on its way.
 *
 * @throws Failure `locked`.
 */
function refuseWhileMigrating({ row, owner }: RepositoryContext, target: RepositoryTarget): void {
  const state = row.origin?.import;
  if (target.whileMigrating || (state !== "running" && state !== "waiting")) return;
  if (!target.scopes.some((scope) => CHANGING.has(scope))) return;
  throw new Failure("locked", `${owner.name}/${row.name} is being migrated`);
}

const isAdministration = ({ mode }: Requirement): boolean => mode === "admin" || mode === "owner";

/** Resolves the row of a name to a repository that the caller may see, a redirect, or a new repository. */
async function resolveRepository(
  { door, raw }: IncomingRequest,
  ctx: Ctx,
  target: RepositoryTarget,
  row: RepositoryRow | undefined,
): Promise<RepositoryContext> {
  if (row) {
    const repo = toRepositoryContext(ctx.actor, row);
    if (isAllowed(repo, TO_SEE)) return repo;
    throw refuseUnknown(door, ctx.actor);
  }
  // SECURITY: finds only a repository that the caller may see; any other redirect would reveal the repository.
  const renamed = await findRenamed(ctx, target.owner, target.name);
  if (renamed) {
    const location = movedTo(ctx.rootUrl, target.pathAt(renamed.repo), raw);
    throw new Moved(location, renamed.isOwnerRenamed ? 307 : isRead(raw) ? 301 : 308);
  }
  const created = await target.createMissing?.(ctx);
  if (!created) throw refuseUnknown(door, ctx.actor);
  return created;
}

/**
 * SECURITY: for a token that is bound to repositories the reason is the same whether or not the repository exists.
 */
const refuseUnknown = (door: Door, actor: Actor): Failure =>
  door.refuseUnknown(actor, boundTokenId(actor) === undefined ? "not-found" : "token-repositories");

/**
 * Writes are redirected by 308: after a 301 many clients would repeat them as a GET, which changes nothing.
 */
const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";
