import { refuseBound } from "../auth/actor.ts";
import type { CallerArgument } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import { ACCESS, type Mode, type User } from "../db/schema/index.ts";
import { chooseAccountRow, hasName } from "../domain/people/accounts/find-account.ts";
import {
  selectPackageOwner,
  toPackageOwner,
  type PackageOwner,
} from "../domain/packages/package/find-package.ts";
import { notFound } from "../lib/failure.ts";
import { authenticate, type TargetQuery } from "./authenticate.ts";
import type { Door, IncomingRequest, Requirements } from "./door.ts";
import { Moved, movedTo } from "./moved.ts";

/** The differences between the doors of packages when they refuse a caller. */
export interface PackageDoor extends Door {
  /** Refuses a caller who may see the owner, but whose access to its packages is too low. */
  refusePackageAccess(ctx: Ctx): Error;
}

/** The owner of packages that a request names, with the requirements of the route. */
export interface PackagesTarget extends Requirements {
  /** The owner's name. */
  owner: string;
  mode: Extract<Mode, "read" | "write" | "admin">;
  /** The path of this request under a renamed account. */
  pathAt(renamed: User): string;
}

/** The context of a request for packages of an owner. */
export interface PackagesEntrance<R extends TargetQuery> {
  ctx: Ctx;
  owner: PackageOwner;
  /** The result of the query that came with the caller's. */
  more: R["_"]["result"] | undefined;
}

/**
 * Authenticates a request and resolves the owner of packages that it names, in one round trip.
 *
 * @param selectMore Builds a query that is sent with it, such as `selectPackageByName`.
 * @throws Failure as `authenticate` does; the door's refusal for an owner that does not exist or
 * that the caller may not see, and for too low an access.
 * @throws Moved where the account has been renamed.
 */
export async function enterPackages<R extends TargetQuery>(
  incoming: IncomingRequest & { door: PackageDoor },
  target: PackagesTarget,
  selectMore?: (caller: CallerArgument) => R,
): Promise<PackagesEntrance<R>> {
  const { door, base, raw } = incoming;
  if (!base.config.packages.isOn) throw notFound();
  const {
    ctx,
    target: rows,
    more,
  } = await authenticate(
    incoming,
    target,
    (caller) => selectPackageOwner(base.db, { caller, name: target.owner.toLowerCase() }),
    selectMore && ((caller) => [selectMore(caller)] as const),
  );
  const { actor } = ctx;
  const row = chooseAccountRow(actor, target.owner, rows ?? []);
  if (!row) throw door.refuseUnknown(actor);
  if (!hasName(row, target.owner)) {
    throw new Moved(movedTo(ctx.rootUrl, target.pathAt(row.account), raw), 307);
  }
  const owner = toPackageOwner(actor, row);
  if (owner.access === ACCESS.none) throw door.refuseUnknown(actor);
  if (target.mode !== "read") {
    if (!actor.user) throw door.refuseAnonymous(base.config);
    refuseOtherBindings(ctx);
  }
  if (owner.access < ACCESS[target.mode]) throw door.refusePackageAccess(ctx);
  return { ctx, owner, more: more?.[0] };
}

/**
 * SECURITY: a token that is bound to refs or paths changes nothing else. One that is bound to
 * repositories or packages is checked with the package.
 */
function refuseOtherBindings({ actor }: Ctx): void {
  if (actor.token?.boundRefs || actor.token?.boundPaths) refuseBound(actor);
}
