import { callerArgument } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import type { User } from "../db/schema/index.ts";
import {
  isSeen,
  selectAccountFormerlyNamed,
  selectAccountNamed,
  type AccountRow,
} from "../domain/accounts/find-account.ts";
import { authenticate } from "./authenticate.ts";
import type { IncomingRequest, Requirements } from "./door.ts";
import { Moved, movedTo } from "./moved.ts";

/** The user or organization that a request names, with the requirements of the route. */
export interface AccountTarget extends Requirements {
  name: string;
  /** The path of this request under a renamed account. */
  pathAt(renamed: User): string;
}

/** The context of a request for an account, with the caller's roles in it. */
export interface AccountContext extends AccountRow {
  ctx: Ctx;
}

/**
 * Authenticates a request and resolves the user or organization that it names.
 *
 * @throws Failure as `authenticate` does, and the door's refusal for an account that does not exist or
 * that the caller may not see.
 * @throws Moved where the account has been renamed.
 */
export async function enterAccount(
  incoming: IncomingRequest,
  target: AccountTarget,
): Promise<AccountContext> {
  const { door, base, raw } = incoming;
  const { ctx, target: rows } = await authenticate(incoming, target, (caller) =>
    selectAccountNamed(base.db, caller, target.name),
  );
  const row = rows?.[0];
  if (row) {
    if (isSeen(ctx.actor, row)) return { ctx, ...row };
    throw door.refuseUnknown(ctx.actor);
  }
  const [renamed] = await selectAccountFormerlyNamed(
    ctx.db,
    callerArgument(ctx.actor),
    target.name,
  );
  // SECURITY: redirects only to an account that the caller may see; any other redirect would reveal the
  // account.
  if (!renamed || !isSeen(ctx.actor, renamed)) throw door.refuseUnknown(ctx.actor);
  const location = movedTo(ctx.rootUrl, target.pathAt(renamed.account), raw);
  throw new Moved(location, 307);
}
