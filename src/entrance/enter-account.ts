import type { Ctx } from "../context.ts";
import type { User } from "../db/schema/index.ts";
import {
  selectUnreadCount,
  toUnreadCount,
} from "../domain/issues/notifications/select-unread-count.ts";
import {
  type PackageOwner,
  selectPackageOwner,
  toPackageOwner,
} from "../domain/packages/package/find-package.ts";
import {
  type AccountFacts,
  selectAccountFacts,
  toAccountFacts,
} from "../domain/repos/repository/account-facts.ts";
import {
  chooseAccountRow,
  hasName,
  selectAccountsOfName,
  type AccountRow,
} from "../domain/people/accounts/find-account.ts";
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
 * @throws Failure as `authenticate` does, and the door's refusal for an account that does not exist
 * or that the caller may not see.
 * @throws Moved where the account has been renamed.
 */
export async function enterAccount(
  incoming: IncomingRequest,
  target: AccountTarget,
): Promise<AccountContext> {
  const { ctx, target: rows } = await authenticate(incoming, target, (caller) =>
    selectAccountsOfName(incoming.base.db, caller, target.name),
  );
  return resolveAccount(incoming, ctx, target, rows ?? []);
}

/**
 * Like `enterAccount`, for a page that shows how the account relates to its reader; in the same
 * round trip.
 */
export async function enterAccountForReader(
  incoming: IncomingRequest,
  target: AccountTarget,
): Promise<AccountContext & { facts: AccountFacts; owner: PackageOwner; unreadCount: number }> {
  const { db } = incoming.base;
  const {
    ctx,
    target: rows = [],
    more: [relations, profiles, unread] = [[], [], []],
  } = await authenticate(
    incoming,
    target,
    (caller) => selectPackageOwner(db, { caller, name: target.name.toLowerCase() }),
    (caller) =>
      [...selectAccountFacts(db, target.name, caller), selectUnreadCount(db, caller)] as const,
  );
  const row = resolveAccount(incoming, ctx, target, rows);
  const facts = toAccountFacts(ctx.actor, [relations, profiles]);
  const owner = toPackageOwner(ctx.actor, row);
  return { ...row, facts, owner, unreadCount: toUnreadCount(unread) };
}

/** Resolves the rows of a name to an account that the caller may see. */
function resolveAccount<R extends AccountRow>(
  { door, raw }: IncomingRequest,
  ctx: Ctx,
  target: AccountTarget,
  rows: readonly R[],
): R & { ctx: Ctx } {
  const row = chooseAccountRow(ctx.actor, target.name, rows);
  if (!row) throw door.refuseUnknown(ctx.actor);
  if (hasName(row, target.name)) return { ctx, ...row };
  throw new Moved(movedTo(ctx.rootUrl, target.pathAt(row.account), raw), 307);
}
