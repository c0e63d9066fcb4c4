import type { Context } from "hono";

import { readCredential } from "../auth/credential.ts";
import { authenticate } from "../auth/authenticate.ts";
import { noteTokenUse } from "../auth/note-token-use.ts";
import { hasScope } from "../auth/scope.ts";
import type { Ctx } from "../context.ts";
import { ACCESS } from "../db/schema/index.ts";
import {
  findRenamed,
  isNamed,
  selectRepositories,
  toEntry,
} from "../domain/repos/find-repository.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import type { RepositoryEntry } from "../shapes/repository.ts";
import type { WebEnv } from "./env.ts";
import { Moved } from "./render-failure.ts";

/** Who asks, and for what of which repository. */
interface Visit {
  ctx: Ctx;
  entry: RepositoryEntry;
}

/**
 * Lets a request into the repository of its path, to read it, or refuses it.
 *
 * SECURITY: a repository that does not exist and one that the caller may not see are the same.
 *
 * @param ending What follows the repository's name in an address that ends with it, such as `.rss`.
 */
export async function enterRepository(
  c: Context<WebEnv>,
  owner: string,
  name: string,
  ending?: string,
): Promise<Visit> {
  const { open } = c.var;
  const credential = readCredential(c.req.header("authorization"), new URL(c.req.url).searchParams);
  const { actor, target } = await authenticate(
    open.db,
    { credential, sudo: undefined },
    open.now,
    (who) => selectRepositories(open.db, who).where(isNamed(owner, name)),
  );
  const ctx: Ctx = { ...open, actor };
  if (!actor.user && open.config.isSignInRequired) throw unauthenticated("sign in first");
  if (!hasScope(actor.scopes, "read:repository")) throw forbidden("Forbidden");
  const noting = actor.token && noteTokenUse(ctx.db, actor.token, ctx.now);
  if (noting) ctx.defer(noting);

  const row = target?.[0];
  const entry = row ? toEntry(actor, row) : undefined;
  if (entry && entry.access !== ACCESS.none) return { ctx, entry };
  const moved = row ? undefined : await findRenamed(ctx, owner, name);
  if (!moved) throw notFound();
  const { pathname, search } = new URL(c.req.url);
  const rest = ending ?? `/${pathname.split("/").slice(3).join("/")}`;
  throw new Moved(`${ctx.rootUrl}/${moved.owner.name}/${moved.repo.name}${rest}${search}`);
}
