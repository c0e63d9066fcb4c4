import { callerSql } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import type { User } from "../db/schema/index.ts";
import {
  isAccountNamed,
  isSeen,
  selectAccounts,
  wasAccountNamed,
  type AccountRow,
} from "../domain/accounts/find-account.ts";
import { authenticateRequest } from "./authenticate-request.ts";
import type { IncomingRequest, Requirements } from "./door.ts";
import { Moved, movedTo } from "./moved.ts";

/** The user or organization that a request is about, and how the request is to be let in. */
export interface AccountTarget extends Requirements {
  name: string;
  /** The path of this request, at an account of another name. */
  pathAt(renamed: User): string;
  /** How a caller is sent there. */
  movedStatus: 301 | 307;
}

/** A request that was let to an account, with the caller's part in it. */
export interface AccountContext extends AccountRow {
  ctx: Ctx;
}

/**
 * Lets a request to the user or organization that it names, for those who may see it.
 *
 * @throws Failure as `authenticateRequest` does, and as the door refuses what is unknown.
 * @throws Moved where the account has another name now.
 */
export async function enterAccount(
  incoming: IncomingRequest,
  target: AccountTarget,
): Promise<AccountContext> {
  const { door, base, raw } = incoming;
  const { ctx, target: rows } = await authenticateRequest(incoming, target, (caller) =>
    selectAccounts(base.db, caller).where(isAccountNamed(target.name)),
  );
  const row = rows?.[0];
  if (row) {
    if (isSeen(ctx.actor, row)) return { ctx, ...row };
    throw door.refuseUnknown(ctx.actor);
  }
  const [renamed] = await selectAccounts(ctx.db, callerSql(ctx.actor))
    .where(wasAccountNamed(target.name))
    .limit(1);
  // SECURITY: only to an account that the caller may see; else the redirect would tell that it exists.
  if (!renamed || !isSeen(ctx.actor, renamed)) throw door.refuseUnknown(ctx.actor);
  const location = movedTo(ctx.rootUrl, target.pathAt(renamed.account), raw);
  throw new Moved(location, target.movedStatus);
}
