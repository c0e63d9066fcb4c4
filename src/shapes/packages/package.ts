import { z } from "@hono/zod-openapi";

import type { PackageVersion, User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import { Repository, type RepositoryContext, toRepository } from "../repos/repository.ts";
import { packageHtmlUrlOf } from "../urls.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

/** One version of a package, which Gitea's API calls a package. */
export const PackageShape = z
  .object({
    id: Int64.openapi({ description: "The id of the version" }),
    owner: User,
    repository: Repository.nullable().openapi({
      description: "The repository that the package is linked to",
    }),
    creator: User,
    type: z.string().openapi({ example: "npm" }),
    name: z.string(),
    version: z.string(),
    html_url: z.string().openapi({ format: "uri" }),
    created_at: Time,
  })
  .openapi("Package");
export type PackageShape = z.infer<typeof PackageShape>;

/** A version as queries return it, of a package that the viewer may see. */
export interface PackageVersionEntry {
  readonly version: Pick<PackageVersion, "id" | "version" | "createdAt">;
  readonly pkg: {
    readonly row: { readonly type: string; readonly name: string };
    readonly owner: { readonly account: UserRow };
    /** Undefined for a package without one. */
    readonly repo: RepositoryContext | undefined;
  };
  /** Undefined if the account was deleted. */
  readonly creator: UserRow | undefined;
}

/** Formats a version for `viewer`. */
export function toPackage(
  { version, pkg: { row, owner, repo }, creator }: PackageVersionEntry,
  viewer: Viewer,
): PackageShape {
  return {
    id: version.id,
    owner: toUser(owner.account, viewer),
    repository: repo ? toRepository(repo, viewer) : null,
    creator: creator ? toUser(creator, viewer) : toGhost(viewer),
    type: row.type,
    name: row.name,
    version: version.version,
    html_url: packageHtmlUrlOf(
      { owner: owner.account, type: row.type, name: row.name, version: version.version },
      viewer,
    ),
    created_at: formatTime(version.createdAt),
  };
}
