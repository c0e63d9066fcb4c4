import type { Context } from "hono";

import type { Ctx } from "../context.ts";
import type { AccountRow } from "../domain/people/accounts/find-account.ts";
import { pushCreate, toPushCreation } from "../domain/repos/repository/push-create.ts";
import type { PushTarget } from "../entrance/enter-push.ts";
import type { RepositoryTarget } from "../entrance/enter-repository.ts";
import { Failure } from "../lib/failure.ts";
import { requestPath } from "../lib/request-path.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import type { GitHttpEnv } from "./env.ts";

/** What a path ends with that names the wiki of a repository; no repository's name does. */
const WIKI = /\.wiki$/i;

/** The name in the path, without `.git`. */
const namedIn = (c: Context<GitHttpEnv>): string =>
  ((c.req.param() as { repo?: string }).repo ?? "").replace(/\.git$/i, "");

/** Whether the path names the wiki of a repository. */
export const isOfWiki = (c: Context<GitHttpEnv>): boolean => WIKI.test(namedIn(c));

/** The repository of the path, with and without `.git`, and what reading its code requires. */
export function toRead(c: Context<GitHttpEnv>): RepositoryTarget {
  const { owner = "" } = c.req.param() as { owner?: string };
  const rest = requestPath(c.req.url).split("/").slice(3).join("/");
  return {
    owner,
    name: namedIn(c),
    scopes: ["read:repository"],
    anonymous: "by-setting",
    requirement: { unit: "code", mode: "read" },
    pathAt: (renamed) => `/${renamed.owner.name}/${renamed.row.name}.git/${rest}`,
  };
}

/**
 * The repository whose wiki the path names, and what reading or writing it requires. No push
 * creates it, and nobody but writers pushes to it.
 */
export function toWikiOf(c: Context<GitHttpEnv>, mode: "read" | "write"): RepositoryTarget {
  const target = mode === "read" ? toRead(c) : toWrite(c);
  const rest = requestPath(c.req.url).split("/").slice(3).join("/");
  return {
    ...target,
    name: target.name.replace(WIKI, ""),
    requirement: { unit: "wiki", mode },
    pathAt: (renamed) => `/${renamed.owner.name}/${renamed.row.name}.wiki.git/${rest}`,
  };
}

/** The same for writing. */
export const toWrite = (c: Context<GitHttpEnv>): RepositoryTarget => ({
  ...toRead(c),
  scopes: ["write:repository"],
  anonymous: "never",
  requirement: { unit: "code", mode: "write" },
});

/** The same for storing large files for a push, which may create the repository. */
export function toStore(c: Context<GitHttpEnv>): PushTarget {
  const target = toWrite(c);
  return { ...target, create: (ctx, owner) => createByPush(c, ctx, owner, target.name) };
}

/**
 * The same for pushing. Readers of the code may begin a push, since it may open a pull request:
 * `receivePack` checks each ref.
 */
export const toPush = (c: Context<GitHttpEnv>): PushTarget => ({
  ...toStore(c),
  requirement: { unit: "code", mode: "read" },
});

/** Creates the missing repository of a push; undefined if the caller may not create it. */
async function createByPush(
  c: Context<GitHttpEnv>,
  ctx: Ctx,
  owner: AccountRow | undefined,
  name: string,
): Promise<RepositoryContext | undefined> {
  const creation = toPushCreation(ctx, owner, name);
  // The GET of a push, or a dry run, creates nothing.
  if (creation && c.req.method === "GET") throw new Vacant();
  return creation && pushCreate(ctx, creation);
}

/**
 * Thrown while the repository does not exist and the caller's push will create it. Rendered as no
 * refs.
 */
export class Vacant extends Failure {
  constructor() {
    super("not_found", "the repository does not exist yet");
  }
}
