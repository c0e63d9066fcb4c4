import { isPackageInReach } from "../auth/access/credential-reach.ts";
import type { Credential } from "../auth/credential.ts";
import type { Ctx } from "../context.ts";
import type { Database } from "../db/db.ts";
import type { PackageType } from "../db/schema/index.ts";
import {
  type FileKey,
  type FileOfVersion,
  type PackageFileQuery,
  selectPackageWithFile,
} from "../domain/packages/package/find-file.ts";
import {
  selectPackage,
  toPackageContext,
  type OwnerArgument,
  type PackageContext,
  type PackageOwner,
} from "../domain/packages/package/find-package.ts";
import type { TargetQuery } from "../entrance/authenticate.ts";
import { enterPackages, type PackagesEntrance } from "../entrance/enter-packages.ts";
import { notFound } from "../lib/failure.ts";
import { requestPath } from "../lib/request-path.ts";
import { incoming } from "./door.ts";
import type { RegistryContext } from "./env.ts";

/** The requirements of a route on its caller. */
export interface RegistryRule {
  readonly mode: "read" | "write";
  /** The credential that the format reads itself, in place of the `Authorization` header. */
  readonly credential?: Credential | undefined;
}

/** The package that a request names. */
export interface NamedPackage extends RegistryRule {
  readonly type: PackageType;
  readonly name: string;
  /** The name as the format compares names. */
  readonly nameKey: string;
}

/** The context of a request for an owner's packages. */
export interface OwnerRequest {
  readonly ctx: Ctx;
  readonly owner: PackageOwner;
}

/** The context of a request for one package. */
export interface PackageRequest extends OwnerRequest {
  /** Undefined if there is none of this name that the caller may see. */
  readonly pkg: PackageContext | undefined;
}

/** The context of a request for a file of one package. */
export interface PackageFileRequest extends PackageRequest {
  /** Undefined if there is none of this name, or the caller may not see the package. */
  readonly found: FileOfVersion | undefined;
}

/**
 * Authenticates a request and finds the owner of the path, in one round trip.
 *
 * @param selectMore Makes a query that is sent with it, for rows of the owner.
 * @throws Failure and Moved as `enterPackages`.
 */
export function enterOwner<R extends TargetQuery>(
  c: RegistryContext,
  { mode, credential }: RegistryRule,
  selectMore?: (db: Database, named: OwnerArgument) => R,
): Promise<PackagesEntrance<R>> {
  const name = c.req.param("owner") ?? "";
  const request = { ...incoming(c), ...(credential && { credential }) };
  return enterPackages(
    request,
    {
      owner: name,
      mode,
      scopes: [`${mode}:package`],
      anonymous: mode === "read" ? "by-setting" : "never",
      pathAt: (renamed) => {
        const [, ...segments] = requestPath(c.req.url).split("/");
        const at = segments.findIndex((segment) => segment.toLowerCase() === name.toLowerCase());
        return `/${segments.with(at, encodeURIComponent(renamed.name)).join("/")}`;
      },
    },
    selectMore &&
      ((caller) => selectMore(c.var.base.db, { caller, ownerName: name.toLowerCase() })),
  );
}

/** The same, with the package of a name. */
export async function enterPackage(
  c: RegistryContext,
  { type, name, nameKey, ...rule }: NamedPackage,
): Promise<PackageRequest> {
  const { ctx, owner, more } = await enterOwner(c, rule, (db, named) =>
    selectPackage(db, { ...named, type, nameKey }),
  );
  requirePackageInReach(ctx, owner, { type, name });
  return { ctx, owner, pkg: toPackageContext(ctx.actor, owner, more?.[0]) };
}

/**
 * The same, with a file of the package, also in one round trip.
 */
export const enterPackageFile = (
  c: RegistryContext,
  named: NamedPackage,
  file: FileKey,
): Promise<PackageFileRequest> => enterPackageFileBy(c, named, selectPackageWithFile, file);

/**
 * The same for a file that is named in another way.
 *
 * @param select The query for a package with a file of it.
 * @param file What names the file to the query.
 */
export async function enterPackageFileBy<K>(
  c: RegistryContext,
  { type, name, nameKey, ...rule }: NamedPackage,
  select: PackageFileQuery<K>,
  file: K,
): Promise<PackageFileRequest> {
  const { ctx, owner, more } = await enterOwner(c, rule, (db, named) =>
    select(db, { ...named, type, nameKey, file }),
  );
  requirePackageInReach(ctx, owner, { type, name });
  const [row] = more ?? [];
  const pkg = toPackageContext(ctx.actor, owner, row);
  // Outer joins: all are null if there is no such file.
  if (!pkg || !row || (row.file.id as number | null) === null) {
    return { ctx, owner, pkg, found: undefined };
  }
  const { file: stored, blob, version } = row;
  return { ctx, owner, pkg, found: { file: stored, blob, version } };
}

/** Refuses alike whether or not the package exists. */
function requirePackageInReach(
  { actor }: Ctx,
  { account }: PackageOwner,
  { type, name }: Pick<NamedPackage, "type" | "name">,
): void {
  if (isPackageInReach(actor, { owner: account.name, type, name })) return;
  throw notFound("not found", "token-packages");
}

/** The package of a request that needs one. @throws Failure `not_found`. */
export function requirePackage({ pkg }: PackageRequest): PackageContext {
  if (!pkg) throw notFound("the package does not exist");
  return pkg;
}
