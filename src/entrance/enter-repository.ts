import { requireAdministrationInReach } from "../auth/access/credential-reach.ts";
import { isAllowed } from "../auth/access/permission.ts";
import { TO_SEE, type Requirement } from "../auth/access/requirement.ts";
import { type Actor, boundTokenId, isOfJob } from "../auth/actor.ts";
import type { CallerArgument } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import type { Repository, RepositoryInsightsRow } from "../db/schema/index.ts";
import {
  type RuleRow,
  selectRulesByName,
  toRules,
} from "../domain/code/protections/select-rules.ts";
import {
  selectUnreadCount,
  toUnreadCount,
} from "../domain/issues/notifications/select-unread-count.ts";
import {
  type ReaderFacts,
  selectReaderFacts,
  toReaderFacts,
} from "../domain/repos/repository/reader-facts.ts";
import {
  findNamed,
  type NamedRow,
  selectNamedOrRelated,
  selectRepositoriesOfName,
  toRepositoryContext,
} from "../domain/repos/repository/find-repository.ts";
import { selectInsightsByName } from "../domain/repos/repository/repository-insights.ts";
import { Failure, forbidden } from "../lib/failure.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import { authenticate, type ResultsOf } from "./authenticate.ts";
import type { Door, IncomingRequest, Requirements } from "./door.ts";
import { Moved, movedTo } from "./moved.ts";
import { type PathSubject, refuseInStep } from "./refuse-in-step.ts";

/** The repository that a request names, with the requirements of the route. */
export interface RepositoryTarget extends Requirements {
  owner: string;
  name: string;
  /** The permission that the route requires. For more than `read` the caller must be signed in. */
  requirement: Requirement;
  /**
   * Whether the rules of branches and tags are loaded; by default those who change the code or
   * releases need them.
   */
  showsRules?: boolean | undefined;
  /** Whether the stored insights into the code are loaded, for a page that shows them. */
  showsInsights?: boolean | undefined;
  /** Whether the route may change a repository that is being migrated. */
  whileMigrating?: boolean | undefined;
  /** The subject of the request below the repository, which a mirror may keep in step. */
  subject?: PathSubject | undefined;
  /** The path of this request under a renamed repository. */
  pathAt(renamed: RepositoryContext): string;
  /** Creates the repository if it does not exist and the request may create it: see `enterPush`. */
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
 * @throws Failure as `authenticate` does, and the door's refusal for a repository that does not
 * exist
 * or that the caller may not see, and for a caller without the required permission in it.
 * @throws Moved where the repository has been renamed.
 */
export async function enterRepository(
  incoming: IncomingRequest,
  target: RepositoryTarget,
): Promise<RequestContext> {
  const { db } = incoming.base;
  const {
    ctx,
    target: rows,
    more: rules,
  } = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoriesOfName(db, caller, target),
    needsRules(target) ? (caller) => [selectRulesByName(db, target, caller)] as const : undefined,
  );
  const repo = await findPermitted(incoming, ctx, target, rows);
  return { ctx, repo: rules ? withRules(repo, rules[0]) : repo };
}

/**
 * Like `enterRepository`, for a page that shows how the repository relates to its reader; in the
 * same round trip.
 */
export async function enterRepositoryForReader(
  incoming: IncomingRequest,
  target: RepositoryTarget,
): Promise<RequestContext & ForReader> {
  const { db } = incoming.base;
  const {
    ctx,
    target: rows,
    more,
  } = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoriesOfName(db, caller, target),
    selectForReader(db, target),
  );
  const repo = await findPermitted(incoming, ctx, target, rows);
  return { ctx, repo, ...toForReader(ctx, more) };
}

/** Like `enterRepositoryForReader`, with the rules of the repository in the same round trip. */
export async function enterRulesForReader(
  incoming: IncomingRequest,
  target: RepositoryTarget,
): Promise<RequestContext & ForReader> {
  const { db } = incoming.base;
  const selectReader = selectForReader(db, target);
  const {
    ctx,
    target: rows,
    more,
  } = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoriesOfName(db, caller, target),
    (caller) => [selectRulesByName(db, target, caller), ...selectReader(caller)] as const,
  );
  const repo = await findPermitted(incoming, ctx, target, rows);
  const [rules, ...ofReader] = more ?? [[], [], [], []];
  return { ctx, repo: withRules(repo, rules), ...toForReader(ctx, ofReader) };
}

/** What a page shows of its reader. */
export interface ForReader {
  readonly facts: ReaderFacts;
  /** The reader's unread notifications. */
  readonly unreadCount: number;
  /** The stored insights into the code, if the target shows them and there are any. */
  readonly insights: RepositoryInsightsRow | undefined;
}

/** The statements of what a page shows of its reader, for `toForReader`. */
export const selectForReader =
  (db: Database, target: RepositoryTarget) => (caller: CallerArgument) =>
    [
      ...selectReaderFacts(db, target, caller),
      selectUnreadCount(db, caller),
      ...(target.showsInsights ? [selectInsightsByName(db, target)] : []),
    ] as const;

export const toForReader = (
  { actor }: Ctx,
  [toggles, parents, unread, stored]: ResultsOf<ReturnType<ReturnType<typeof selectForReader>>> = [
    [],
    [],
    [],
  ],
): ForReader => ({
  facts: toReaderFacts(actor, [toggles, parents]),
  unreadCount: toUnreadCount(unread),
  insights: stored?.[0],
});

/** The repository with its rules, from rows that came with it. */
export const withRules = (
  repo: RepositoryContext,
  rows: readonly RuleRow[],
): RepositoryContext => ({
  ...repo,
  rules: toRules(repo.row, rows),
});

/**
 * Whether the rules of branches and tags decide about a request: about each change of the code,
 * and of releases' tags.
 */
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
 * Like `enterRepository`, and also resolves `relative` to those repositories of the fork network
 * that the caller may see.
 */
export async function enterNetwork(
  incoming: IncomingRequest,
  target: RepositoryTarget,
  relative: RelativeName,
): Promise<RequestContext & { relatives: RepositoryContext[] }> {
  const { ctx, target: rows = [] } = await authenticate(incoming, target, (caller) =>
    selectNamedOrRelated(incoming.base.db, caller, target, relative),
  );
  const repo = await findPermitted(incoming, ctx, target, rows);
  return { ctx, repo, relatives: findRelatives(ctx, repo, rows, relative) };
}

/**
 * Like `enterNetwork`, for a page that shows how the repository relates to its reader; in the same
 * round trip.
 */
export async function enterNetworkForReader(
  incoming: IncomingRequest,
  target: RepositoryTarget,
  relative: RelativeName,
): Promise<RequestContext & ForReader & { relatives: RepositoryContext[] }> {
  const { db } = incoming.base;
  const {
    ctx,
    target: rows = [],
    more,
  } = await authenticate(
    incoming,
    target,
    (caller) => selectNamedOrRelated(db, caller, target, relative),
    selectForReader(db, target),
  );
  const repo = await findPermitted(incoming, ctx, target, rows);
  const relatives = findRelatives(ctx, repo, rows, relative);
  return { ctx, repo, relatives, ...toForReader(ctx, more) };
}

/** The repositories that `relative` names, in the network of another and visible to the caller. */
const findRelatives = (
  ctx: Ctx,
  repo: RepositoryContext,
  rows: readonly NamedRow[],
  relative: RelativeName,
): RepositoryContext[] =>
  rows
    .filter((row) => isOf(row, relative) && isInNetworkOf(row.repo, repo.row))
    .map((row) => toRepositoryContext(ctx.actor, row))
    .filter((each) => isAllowed(each, TO_SEE));

const isOf = (row: NamedRow, { owner, repo }: RelativeName): boolean =>
  row.owner.lowerName === owner.toLowerCase() &&
  (repo === undefined || row.repo.lowerName === repo.toLowerCase());

/** The rows may have one more, of a repository that had the name formerly. */
const isInNetworkOf = ({ id, networkName }: Repository, named: Repository): boolean =>
  id === named.id || (networkName !== "" && networkName === named.networkName);

/**
 * Resolves the rows of a name to a repository in which the caller has the permission that the
 * route requires.
 */
export async function findPermitted(
  incoming: IncomingRequest,
  ctx: Ctx,
  target: RepositoryTarget,
  rows: readonly NamedRow[] | undefined,
): Promise<RepositoryContext> {
  const { actor, config } = ctx;
  const { door } = incoming;
  const repo = await resolveRepository(incoming, ctx, target, rows ?? []);
  if (target.requirement.mode !== "read" && !actor.user) throw door.refuseAnonymous(config);
  door.requireAccess(actor, repo, target.requirement);
  refuseReadingJob(actor, repo, target);
  refuseWhileMigrating(repo, target);
  const isWrite = target.scopes.some((scope) => scope.startsWith("write:"));
  if (isWrite && isAdministration(target.requirement)) requireAdministrationInReach(actor);
  await refuseInStep(ctx, repo, target);
  return repo;
}

/**
 * Refuses the token of a job that was granted no writing to issues and pull requests where people
 * who read them may write: they may open and comment.
 *
 * @throws Failure `forbidden`.
 */
function refuseReadingJob(actor: Actor, repo: RepositoryContext, { scopes }: Requirements): void {
  if (!isOfJob(actor) || !scopes.includes("write:issue")) return;
  const mayWrite = ISSUE_UNITS.some((unit) => isAllowed(repo, { unit, mode: "write" }));
  if (!mayWrite) throw forbidden("the workflow does not grant its job to write here");
}

const ISSUE_UNITS = ["issues", "pulls"] as const;

/** Scopes whose requests change what a migration writes. */
const CHANGING: ReadonlySet<string> = new Set(["write:repository", "write:issue"]);

/**
 * Refuses changes of a repository that is being migrated: they would come between what is still on
 * its way.
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

/**
 * Resolves the rows of a name to a repository that the caller may see, a redirect, or a new
 * repository.
 */
async function resolveRepository(
  { door, raw }: IncomingRequest,
  ctx: Ctx,
  target: RepositoryTarget,
  rows: readonly NamedRow[],
): Promise<RepositoryContext> {
  const named = findNamed(rows, target);
  // The repository that has the name now takes precedence over one that had it formerly.
  const row = named ?? rows[0];
  const repo = row && toRepositoryContext(ctx.actor, row);
  // SECURITY: a redirect to a repository that the caller may not see would reveal it.
  if (repo && isAllowed(repo, TO_SEE)) {
    if (named) return repo;
    const location = movedTo(ctx.rootUrl, target.pathAt(repo), raw);
    throw new Moved(location, row.isOwnerRenamed ? 307 : isRead(raw) ? 301 : 308);
  }
  if (named) throw refuseUnknown(door, ctx.actor);
  const created = await target.createMissing?.(ctx);
  if (!created) throw refuseUnknown(door, ctx.actor);
  return created;
}

/**
 * SECURITY: for a token that is bound to repositories the reason is the same whether or not the
 * repository exists.
 */
const refuseUnknown = (door: Door, actor: Actor): Failure =>
  door.refuseUnknown(actor, boundTokenId(actor) === undefined ? "not-found" : "token-repositories");

/**
 * Writes are redirected by 308: after a 301 many clients would repeat them as a GET, which changes
 * nothing.
 */
const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";
