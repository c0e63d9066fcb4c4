import { isAllowed } from "../auth/access/permission.ts";
import { TO_SEE, type Requirement } from "../auth/access/requirement.ts";
import type { Ctx } from "../context.ts";
import {
  findRenamed,
  isNamed,
  isNamedOrRelated,
  selectRepositories,
  toRepositoryContext,
  type RepositoryRow,
} from "../domain/repos/find-repository.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import { authenticateRequest } from "./authenticate-request.ts";
import type { IncomingRequest, Requirements } from "./door.ts";
import { Moved, movedTo } from "./moved.ts";

/** The repository that a request is about, and how the request is to be let in. */
export interface RepositoryTarget extends Requirements {
  owner: string;
  name: string;
  /** What the caller must be allowed for the repository to exist for them; to see it, by default. */
  existsFor?: Requirement;
  /** The path of this request, at a repository of another name. */
  pathAt(renamed: RepositoryContext): string;
  /** Creates the repository if it does not exist, where the request may do that. */
  createMissing?(ctx: Ctx): Promise<RepositoryContext | undefined>;
}

/** A request that was let into a repository. */
export interface RequestContext {
  ctx: Ctx;
  repo: RepositoryContext;
}

/**
 * Lets a request into the repository that it names, for those who may see it.
 *
 * @throws Failure as `authenticateRequest` does, and as the door refuses what is unknown.
 * @throws Moved where the repository has another name now.
 */
export async function enterRepository(
  incoming: IncomingRequest,
  target: RepositoryTarget,
): Promise<RequestContext> {
  const { owner, name } = target;
  const { ctx, target: rows } = await authenticateRequest(incoming, target, (caller) =>
    selectRepositories(incoming.base.db, caller).where(isNamed(owner, name)),
  );
  return { ctx, repo: await resolveRepository(incoming, ctx, target, rows?.[0]) };
}

/** Repositories of a network as a path names them beside its own: by their owner, or by both names. */
export interface RelativeName {
  owner: string;
  repo: string | undefined;
}

/** The same, with the repositories of its network that the request names too and the caller may see. */
export async function enterNetwork(
  incoming: IncomingRequest,
  target: RepositoryTarget,
  relative: RelativeName,
): Promise<RequestContext & { relatives: RepositoryContext[] }> {
  const { owner, name } = target;
  const { ctx, target: rows = [] } = await authenticateRequest(incoming, target, (caller) =>
    selectRepositories(incoming.base.db, caller).where(isNamedOrRelated(owner, name, relative)),
  );
  const repo = await resolveRepository(
    incoming,
    ctx,
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

/** Turns the row of a name into a repository that the caller may see. */
async function resolveRepository(
  { door, raw }: IncomingRequest,
  ctx: Ctx,
  target: RepositoryTarget,
  row: RepositoryRow | undefined,
): Promise<RepositoryContext> {
  if (row) {
    const repo = toRepositoryContext(ctx.actor, row);
    if (isAllowed(repo, target.existsFor ?? TO_SEE)) return repo;
    throw door.refuseUnknown(ctx.actor);
  }
  // SECURITY: only a repository that the caller may see; else the redirect would tell that it exists.
  const renamed = await findRenamed(ctx, target.owner, target.name);
  if (renamed) {
    const location = movedTo(ctx.rootUrl, target.pathAt(renamed), raw);
    throw new Moved(location, isRead(raw) ? 301 : 308);
  }
  const created = await target.createMissing?.(ctx);
  if (!created) throw door.refuseUnknown(ctx.actor);
  return created;
}

/** A write moves by 308: after a 301 many clients would repeat it as a GET that changes nothing. */
const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";
