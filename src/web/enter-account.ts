import type { Context } from "hono";

import { readCredential } from "../auth/credential.ts";
import { authenticate } from "../auth/authenticate.ts";
import { callerSql } from "../auth/caller-sql.ts";
import { noteTokenUse } from "../auth/note-token-use.ts";
import { hasScope, type Scope } from "../auth/scope.ts";
import type { Ctx } from "../context.ts";
import type { User } from "../db/schema/index.ts";
import {
  isAccountNamed,
  isSeen,
  selectAccounts,
  wasAccountNamed,
} from "../domain/accounts/find-account.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import type { WebEnv } from "./env.ts";
import { Moved } from "./render-failure.ts";

/**
 * Lets a request to the user or organization of its path, or refuses it.
 *
 * SECURITY: an account that does not exist and one that the caller may not see are the same.
 *
 * @param ending What follows the account's name in the address.
 */
export async function enterAccount(
  c: Context<WebEnv>,
  name: string,
  ending: string,
): Promise<{ ctx: Ctx; account: User }> {
  const { open } = c.var;
  const url = new URL(c.req.url);
  const credential = readCredential(c.req.header("authorization"), url.searchParams);
  const { actor, target } = await authenticate(
    open.db,
    { credential, sudo: undefined },
    open.now,
    (who) => selectAccounts(open.db, who).where(isAccountNamed(name)),
  );
  const ctx: Ctx = { ...open, actor };
  if (!actor.user && open.config.isSignInRequired) throw unauthenticated("sign in first");
  const noting = actor.token && noteTokenUse(ctx.db, actor.token, ctx.now);
  if (noting) ctx.defer(noting);

  const row = target?.[0];
  if (row && isSeen(actor, row)) {
    if (!hasScope(actor.scopes, SCOPES[row.account.kind])) throw forbidden("Forbidden");
    return { ctx, account: row.account };
  }
  const [moved] = row
    ? []
    : await selectAccounts(ctx.db, callerSql(actor)).where(wasAccountNamed(name)).limit(1);
  if (!moved || !isSeen(actor, moved)) throw notFound();
  throw new Moved(`${ctx.rootUrl}/${moved.account.name}${ending}${url.search}`);
}

const SCOPES: Readonly<Record<User["kind"], Scope>> = {
  user: "read:user",
  organization: "read:organization",
};
