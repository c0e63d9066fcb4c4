import type { Context } from "hono";

import { isAllowed } from "../auth/access/permission.ts";
import { readCredential } from "../auth/credential.ts";
import { identify } from "../auth/identify.ts";
import { noteTokenUse } from "../auth/note-token-use.ts";
import { hasScope } from "../auth/scope.ts";
import type { Ctx } from "../context.ts";
import {
  findRenamed,
  isNamed,
  selectRepositories,
  toEntry,
} from "../domain/repos/find-repository.ts";
import { findPushCreation, pushCreate } from "../domain/repos/push-create.ts";
import type { ServiceName } from "../git/wire/advertisement.ts";
import { Failure, forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import type { RepositoryEntry } from "../shapes/repository.ts";
import type { GitHttpEnv, Visit } from "./env.ts";

/**
 * Lets a request of `service` into the repository of its path, or refuses it.
 *
 * SECURITY: the service is the one that will really run, never one that a parameter names. To
 * strangers a repository that does not exist and one that they may not see are the same: both ask
 * for a password, as git needs to be asked before it sends one.
 */
export async function enter(c: Context<GitHttpEnv>, service: ServiceName): Promise<Visit> {
  const isPush = service === "git-receive-pack";
  const visit = await findVisit(c, { isPush, mayCreate: isPush });
  if (isPush) {
    if (!isAllowed(visit.entry, { unit: "code", mode: "write" })) {
      throw forbidden("you may not push to this repository");
    }
    refuseReadOnly(visit.entry);
  }
  return visit;
}

/** What a request is about to do. */
interface Purpose {
  /** Whether it writes, and so is for nobody who is not signed in. */
  isPush: boolean;
  /** Whether it may bring the repository into being. */
  mayCreate: boolean;
}

/** Finds who asks and the repository of the path, for those who may see it. */
export async function findVisit(
  c: Context<GitHttpEnv>,
  { isPush, mayCreate }: Purpose,
): Promise<Visit> {
  const { open } = c.var;
  const { owner = "", repo = "" } = c.req.param() as { owner?: string; repo?: string };
  const name = repo.replace(/\.git$/i, "");

  const credential = readCredential(c.req.header("authorization"), new URL(c.req.url).searchParams);
  const { actor, place } = await identify(open.db, credential, undefined, open.now, (who) =>
    selectRepositories(open.db, who).where(isNamed(owner, name)),
  );
  const ctx: Ctx = { ...open, actor };
  const isAnonymous = actor.user === undefined;
  if (isAnonymous && (isPush || open.config.isSignInRequired)) throw unauthenticated(SIGN_IN);
  if (!hasScope(actor.scopes, isPush ? "write:repository" : "read:repository")) {
    throw forbidden("Forbidden");
  }
  const noting = actor.token && noteTokenUse(ctx.db, actor.token, ctx.now);
  if (noting) ctx.defer(noting);

  const row = place?.[0];
  const entry = row
    ? toEntry(actor, row)
    : ((await findMoved(c, ctx, owner, name)) ?? (await make(c, ctx, mayCreate, owner, name)));
  if (!isAllowed(entry, { unit: "code", mode: "read" })) {
    throw isAnonymous ? unauthenticated(SIGN_IN) : notFound(NO_REPOSITORY);
  }
  return { ctx, entry };
}

export const SIGN_IN = "sign in with a user name and a password or token";
const NO_REPOSITORY = "Repository not found";

/** Refuses what writes where nobody may, whoever they are. */
export function refuseReadOnly({ repo }: RepositoryEntry): void {
  if (repo.archivedAt !== null) {
    throw forbidden("this repository is archived: it can be read, not pushed to");
  }
  if (repo.isMirror) throw forbidden("mirror repository is read-only");
}

/** Sends the request on to where the repository went, if the caller may see it there. */
async function findMoved(
  c: Context<GitHttpEnv>,
  ctx: Ctx,
  owner: string,
  name: string,
): Promise<undefined> {
  const entry = await findRenamed(ctx, owner, name);
  if (!entry) return undefined;
  const { pathname, search } = new URL(c.req.url);
  const rest = pathname.split("/").slice(3).join("/");
  throw new Moved(`${ctx.rootUrl}/${entry.owner.name}/${entry.repo.name}.git/${rest}${search}`);
}

/** Creates a repository that is not there, where a push may do that; reading never does. */
async function make(
  c: Context<GitHttpEnv>,
  ctx: Ctx,
  mayCreate: boolean,
  owner: string,
  name: string,
): Promise<RepositoryEntry> {
  if (!ctx.actor.user) throw unauthenticated(SIGN_IN);
  const creation = mayCreate ? await findPushCreation(ctx, owner, name) : undefined;
  if (!creation) throw notFound(NO_REPOSITORY);
  // A client that only asks, as for a dry run, leaves nothing behind.
  if (c.req.method === "GET") throw new Vacant();
  return pushCreate(ctx, creation);
}

/** Not a refusal: there is no repository yet, and a push will make it. */
export class Vacant extends Failure {
  constructor() {
    super("not_found", "the repository does not exist yet");
  }
}

/** Not a refusal: the repository has another name now. */
export class Moved extends Failure {
  readonly location: string;

  constructor(location: string) {
    super("not_found", "moved");
    this.location = location;
  }
}
