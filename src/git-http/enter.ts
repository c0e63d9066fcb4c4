import type { Context } from "hono";

import { isAllowed } from "../auth/access/permission.ts";
import type { Ctx } from "../context.ts";
import { findPushCreation, pushCreate } from "../domain/repos/push-create.ts";
import {
  enterRepository,
  type RepositoryTarget,
  type RequestContext,
} from "../entrance/enter-repository.ts";
import type { ServiceName } from "../git/wire/advertisement.ts";
import { Failure, forbidden } from "../lib/failure.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import { incoming } from "./door.ts";
import type { GitHttpEnv } from "./env.ts";

/**
 * Authorizes a request for `service` on the repository of its path.
 *
 * SECURITY: `service` must be the service that the route runs, never an unchecked parameter.
 */
export async function enter(c: Context<GitHttpEnv>, service: ServiceName): Promise<RequestContext> {
  if (service === "git-upload-pack") return enterToRead(c);
  const context = await enterToPush(c, { mayCreate: true });
  if (!isAllowed(context.repo, { unit: "code", mode: "write" })) {
    throw forbidden("you may not push to this repository");
  }
  refuseReadOnly(context.repo);
  return context;
}

/** Authorizes reading the repository of the path. */
export const enterToRead = (c: Context<GitHttpEnv>): Promise<RequestContext> =>
  enterRepository(incoming(c), {
    ...targetOf(c),
    scopes: ["read:repository"],
    anonymous: "by-setting",
  });

/**
 * Requires a signed-in caller whose token has the write scope, on the repository of the path. The caller's
 * permission to write is not checked here.
 *
 * @param mayCreate Whether the request may create the repository.
 */
export const enterToPush = (
  c: Context<GitHttpEnv>,
  { mayCreate }: { mayCreate: boolean },
): Promise<RequestContext> => {
  const target = targetOf(c);
  return enterRepository(incoming(c), {
    ...target,
    scopes: ["write:repository"],
    anonymous: "never",
    ...(mayCreate && { createMissing: (ctx) => createByPush(c, ctx, target) }),
  });
};

/** Refuses writes to a repository that is read-only for everybody: archived, or a mirror. */
export function refuseReadOnly({ row }: RepositoryContext): void {
  if (row.archivedAt !== null) {
    throw forbidden("this repository is archived: it can be read, not pushed to");
  }
  if (row.isMirror) throw forbidden("mirror repository is read-only");
}

/** The repository of the path, with and without `.git`. */
function targetOf(
  c: Context<GitHttpEnv>,
): Pick<RepositoryTarget, "owner" | "name" | "existsFor" | "pathAt"> {
  const { owner = "", repo = "" } = c.req.param() as { owner?: string; repo?: string };
  const rest = new URL(c.req.url).pathname.split("/").slice(3).join("/");
  return {
    owner,
    name: repo.replace(/\.git$/i, ""),
    existsFor: { unit: "code", mode: "read" },
    pathAt: (renamed) => `/${renamed.owner.name}/${renamed.row.name}.git/${rest}`,
  };
}

/** Creates the missing repository of a push; undefined if the caller may not create it. */
async function createByPush(
  c: Context<GitHttpEnv>,
  ctx: Ctx,
  { owner, name }: { owner: string; name: string },
): Promise<RepositoryContext | undefined> {
  const creation = await findPushCreation(ctx, owner, name);
  // The GET of a push, or a dry run, creates nothing.
  if (creation && c.req.method === "GET") throw new Vacant();
  return creation && pushCreate(ctx, creation);
}

/** Thrown while the repository does not exist and the caller's push will create it. Rendered as no refs. */
export class Vacant extends Failure {
  constructor() {
    super("not_found", "the repository does not exist yet");
  }
}
