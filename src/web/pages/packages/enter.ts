import type { Context } from "hono";

import { ACCESS } from "../../../db/schema/index.ts";
import { callerArgument } from "../../../auth/caller-sql.ts";
import {
  selectUnreadCount,
  toUnreadCount,
} from "../../../domain/issues/notifications/select-unread-count.ts";
import {
  type PackageContext,
  selectPackageByName,
  toPackageContext,
} from "../../../domain/packages/package/find-package.ts";
import { enterPackages, type PackageDoor } from "../../../entrance/enter-packages.ts";
import { notFound } from "../../../lib/failure.ts";
import { requestPath } from "../../../lib/request-path.ts";
import { WEB_DOOR } from "../../door.ts";
import type { WebEnv } from "../../env.ts";
import { type Page, readerRequest, requireCookie, toPublicPage } from "../open-page.ts";

const PACKAGE_PAGE_DOOR: PackageDoor = { ...WEB_DOOR, refusePackageAccess: () => notFound() };

/** The request of a page of a package, with its reader. */
export interface PackagePage extends Page {
  readonly pkg: PackageContext;
}

/**
 * Enters the package of a page's path, `/:name/-/packages/:type/:pkg/…`, for its reader.
 *
 * Cost: one round trip of the database.
 *
 * @param mode That of the page; one that changes the package is for readers with a session.
 * @throws Failure as `enterPackages` does, and `not_found` for a package that the reader may not
 * see.
 */
export async function enterPackagePage(
  c: Context<WebEnv>,
  mode: "read" | "write" = "read",
): Promise<PackagePage> {
  if (mode === "write") requireCookie(c);
  const { name = "", type = "", pkg: pkgName = "" } = c.req.param() as Record<string, string>;
  const rest = requestPath(c.req.url).split("/").slice(2).join("/");
  const {
    ctx,
    owner,
    more: rows,
  } = await enterPackages(
    { ...readerRequest(c), door: PACKAGE_PAGE_DOOR },
    {
      owner: name,
      mode,
      scopes: mode === "write" ? ["write:package"] : [],
      anonymous: "by-setting",
      pathAt: (renamed) => `/${renamed.name}/${rest}`,
    },
    (caller) => selectPackageByName(c.var.base.db, caller, name, { type, name: pkgName }),
  );
  const pkg = toPackageContext(ctx.actor, owner, rows?.[0]);
  if (!pkg) throw notFound();
  // Counted while the page reads the version.
  const counted = ctx.actor.user
    ? selectUnreadCount(ctx.db, callerArgument(ctx.actor)).execute().then(toUnreadCount)
    : Promise.resolve(0);
  // A page that is refused before it is rendered does not wait for it.
  counted.catch(() => undefined);
  return { ...(await toPublicPage(c, ctx, counted)), pkg };
}

/** Whether the reader may change a package. */
export const canChangePackage = ({ ctx, pkg }: PackagePage): boolean =>
  ctx.actor.user !== undefined && pkg.owner.access >= ACCESS.write;
