import { refuseBound } from "../auth/actor.ts";
import type { CallerArgument } from "../auth/caller-sql.ts";
import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import { ACCESS, type Mode, type User } from "../db/schema/index.ts";
import { findSeenAccount } from "../domain/accounts/find-account.ts";
import {
  selectPackageOwner,
  toPackageOwner,
  type PackageOwner,
} from "../domain/packages/find-package.ts";
import { choosePackageShard } from "../domain/packages/package-shard.ts";
import { notFound } from "../lib/failure.ts";
import { authenticate, type TargetQuery } from "./authenticate.ts";
import type { Door, IncomingRequest, Requirements } from "./door.ts";
import { inPackageShard } from "./in-package-shard.ts";
import { Moved, movedTo } from "./moved.ts";

/** What differs between the doors of packages when a caller may not do what the route does. */
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
  /** `db` is the database with the owner's packages. */
  ctx: Ctx;
  owner: PackageOwner;
  /** The result of the query that came with the caller's. */
  more: R["_"]["result"] | undefined;
}

/** The methods of requests that may store something for an owner who had nothing. */
const STORING: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/**
 * Authenticates a request and resolves the owner of packages that it names, in one round trip. Another one follows where the packages
 * are in a shard, which is chosen when the owner first stores something.
 *
 * @param selectMore Builds a query that is sent with it, such as `selectPackageByName`.
 * @throws Failure as `authenticate` does; the door's refusal for an owner that does not exist or that the caller may not
 * see, and for too low an access.
 * @throws Moved where the account has been renamed.
 */
export async function enterPackages<R extends TargetQuery>(
  incoming: IncomingRequest & { door: PackageDoor },
  target: PackagesTarget,
  selectMore?: (db: Database, caller: CallerArgument) => R,
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
    (caller) =>
      selectPackageOwner(base.db, {
        caller,
        name: target.owner.toLowerCase(),
        areShards: base.openShards().size > 0,
      }),
    selectMore && ((caller) => [selectMore(base.db, caller)] as const),
  );
  const { actor } = ctx;
  const row = rows?.[0];
  const owner = row && toPackageOwner(actor, row);
  if (!owner || owner.access === ACCESS.none) {
    const renamed = row ? undefined : await findSeenAccount(ctx, target.owner);
    if (!renamed) throw door.refuseUnknown(actor);
    throw new Moved(movedTo(ctx.rootUrl, target.pathAt(renamed), raw), 307);
  }
  if (target.mode !== "read") {
    if (!actor.user) throw door.refuseAnonymous(base.config);
    refuseOtherBindings(ctx);
  }
  if (owner.access < ACCESS[target.mode]) throw door.refusePackageAccess(ctx);
  const isStoring = target.mode !== "read" && STORING.has(raw.method);
  const shard = row.shard ?? (isStoring ? await choosePackageShard(ctx, owner.account.id) : 0);
  const query = { loaded: more?.[0], select: selectMore };
  return { owner, ...(await inPackageShard(ctx, owner, shard, query)) };
}

/**
 * SECURITY: a token that is bound to refs or paths changes nothing else. One that is bound to repositories or packages is
 * judged with the package.
 */
function refuseOtherBindings({ actor }: Ctx): void {
  if (actor.token?.boundRefs || actor.token?.boundPaths) refuseBound(actor);
}
