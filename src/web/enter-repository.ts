import type { Context } from "hono";

import { isAllowed } from "../auth/access/permission.ts";
import type { Requirement } from "../auth/access/requirement.ts";
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
 * Lets a request into the repository of its path, or refuses it to those who lack what is required.
 *
 * SECURITY: a repository that does not exist and one that the caller may not see are the same.
 *
 * @param ending What follows the repository's name in an address that ends with it, such as `.rss`.
 */
export async function enterRepository(
  c: Context<WebEnv>,
  owner: string,
  name: string,
  requirement: Requirement,
  ending?: string,
): Promise<Visit> {
  const { open } = c.var;
  const credential = readCredential(c.req.header("authorization"), new URL(c.req.url).searchParams);
  const { actor, place } = await identify(open.db, credential, undefined, open.now, (who) =>
    selectRepositories(open.db, who).where(isNamed(owner, name)),
  );
  const ctx: Ctx = { ...open, actor };
  if (!actor.user && open.config.isSignInRequired) throw unauthenticated("sign in first");
  if (!hasScope(actor.scopes, "read:repository")) throw forbidden("Forbidden");
  const noting = actor.token && noteTokenUse(ctx.db, actor.token, ctx.now);
  if (noting) ctx.defer(noting);

  const row = place?.[0];
  const entry = row ? toEntry(actor, row) : undefined;
  if (entry && isAllowed(entry, requirement)) return { ctx, entry };
  const moved = row ? undefined : await findRenamed(ctx, owner, name);
  if (!moved) throw notFound();
  const { pathname, search } = new URL(c.req.url);
  const rest = ending ?? `/${pathname.split("/").slice(3).join("/")}`;
  throw new Moved(`${ctx.rootUrl}/${moved.owner.name}/${moved.repo.name}${rest}${search}`);
}
