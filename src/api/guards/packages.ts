import { refuseBound } from "../../auth/actor.ts";
import type { Scope } from "../../auth/scope.ts";
import { isPackageInReach } from "../../auth/access/credential-reach.ts";
import type { Mode } from "../../db/schema/index.ts";
import {
  type PackageContext,
  type PackageOwner,
  selectPackageByName,
  toPackageContext,
} from "../../domain/packages/package/find-package.ts";
import { enterPackages, type PackageDoor } from "../../entrance/enter-packages.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import { API_DOOR } from "./door.ts";
import { guard, incoming, type Guard, type GuardContext } from "./guard.ts";
import { renamedPath } from "./renamed-path.ts";

const PACKAGE_API_DOOR: PackageDoor = {
  ...API_DOOR,
  refusePackageAccess: () => forbidden("user should have specific permission or be a site admin"),
};

type PackageMode = Extract<Mode, "read" | "write" | "admin">;

/**
 * Admits signed-in callers with a mode in the packages of the owner of the path.
 *
 * @param options.onlyReads Whether the route changes nothing, although it requires more than
 *   reading.
 */
export function inPackages(
  mode: PackageMode,
  { onlyReads = mode === "read" } = {},
): Guard<{ owner: PackageOwner }> {
  const scopes = scopesOf(onlyReads ? "read" : mode);
  return guard(scopes, false, async (c) => {
    const { ctx, owner } = await enterPackages(requestOf(c), { ...targetOf(c, mode), scopes });
    // SECURITY: what concerns all packages of an owner is beyond a token that is bound to some.
    if (mode !== "read") refuseBound(ctx.actor);
    return { ctx, owner };
  });
}

/**
 * The same for the package of the path.
 *
 * @throws Failure `not_found` also for a package that the caller may not see.
 */
export function atPackage(mode: PackageMode): Guard<{ owner: PackageOwner; pkg: PackageContext }> {
  return guard(scopesOf(mode), false, async (c) => {
    const { pkg, ...entered } = await enterNamed(c, mode);
    if (!pkg) throw notFound("package does not exist");
    return { ...entered, pkg };
  });
}

/**
 * The same for lists, which are empty for a package that does not exist or that the caller may not
 * see.
 */
export function atPackageIfAny(): Guard<{ owner: PackageOwner; pkg: PackageContext | undefined }> {
  return guard(scopesOf("read"), false, (c) => enterNamed(c, "read"));
}

async function enterNamed(c: GuardContext, mode: PackageMode) {
  const { type = "", name = "" } = c.req.param();
  const request = requestOf(c);
  const { owner: ownerName = "" } = c.req.param();
  const { ctx, owner, more } = await enterPackages(request, targetOf(c, mode), (caller) =>
    selectPackageByName(request.base.db, caller, ownerName, { type, name }),
  );
  // The same whether or not the package exists.
  if (!isPackageInReach(ctx.actor, { owner: owner.account.name, type, name })) {
    throw notFound("not found", "token-packages");
  }
  return { ctx, owner, pkg: toPackageContext(ctx.actor, owner, more?.[0]) };
}

const scopesOf = (mode: PackageMode): Scope[] => [
  mode === "read" ? "read:package" : "write:package",
];

const requestOf = (c: GuardContext) => ({ ...incoming(c), door: PACKAGE_API_DOOR });

const targetOf = (c: GuardContext, mode: PackageMode) => ({
  owner: c.req.param("owner") ?? "",
  mode,
  scopes: scopesOf(mode),
  anonymous: "never" as const,
  pathAt: ({ name }: { readonly name: string }) => renamedPath(c, { owner: name }),
});
