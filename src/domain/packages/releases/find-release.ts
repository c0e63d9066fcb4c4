import { and, desc, eq, sql, type SQL } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf, type Database } from "../../../db/db.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { attachments, type Release, releases, users } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { ReleaseContext } from "../../../shapes/releases/release.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** Selects releases with everything that their JSON shows; one query, any number of rows. */
export const selectReleases = (db: Database) =>
  db
    .select({
      release: columnsOf(releases, "r"),
      publisher: columnsOf(users, "p"),
      assets: jsonRows(
        attachments,
        sql`
          from ${attachments}
          where ${attachments.releaseId} = ${releases.id}
          order by ${attachments.name}, ${attachments.id}`,
        "r_assets",
      ),
    })
    .from(releases)
    .leftJoin(users, eq(users.id, releases.publisherId))
    .$dynamic();

/** A row of `selectReleases`. */
export type ReleaseQueryRow = Awaited<ReturnType<typeof selectReleases>>[number];

// The left join returns columns of nulls for a deleted account.
export const toReleaseContext = (
  repo: RepositoryContext,
  { release, publisher, assets }: ReleaseQueryRow,
): ReleaseContext => ({
  repo,
  row: release,
  publisher: release.publisherId === null ? undefined : (publisher ?? undefined),
  assets,
});

/** Whether the caller writes the releases of a repository, and so sees its drafts. */
export const seesDrafts = (repo: RepositoryContext): boolean =>
  isAllowed(repo, { unit: "releases", mode: "write" });

/**
 * Whether the caller may see a release.
 *
 * SECURITY: asked at every door that serves a release or its files: drafts are for writers.
 */
export const isReleaseVisible = (
  repo: RepositoryContext,
  { isDraft }: Pick<Release, "isDraft">,
): boolean => (isDraft ? seesDrafts(repo) : isAllowed(repo, { unit: "releases", mode: "read" }));

/** The order in which the first release is the latest. */
export const latestFirst = [desc(releases.createdAt), desc(releases.id)] as const;

/** How a release is named: by its id, by its tag, or as the latest one. */
export type ReleaseName = { readonly id: number } | { readonly tag: string } | "latest";

/**
 * Finds a release of a repository. The latest is the one created last among the published ones that
 * are no prereleases.
 *
 * @throws Failure `not_found` also where the caller may not see it.
 */
export async function findRelease(
  ctx: Ctx,
  repo: RepositoryContext,
  name: ReleaseName,
): Promise<ReleaseContext> {
  const [found] = await firstRelease(ctx.db, toReleaseQuery(repo, name));
  if (!found || !isReleaseVisible(repo, found.release)) throw notFound();
  return toReleaseContext(repo, found);
}

/**
 * A release of a repository, as an argument of a query: the latest one, if it has neither id nor
 * tag.
 */
export interface ReleaseQuery {
  readonly repoId: number;
  readonly id?: number;
  readonly tag?: { readonly name: string; readonly lower: string };
}

export function toReleaseQuery({ row }: RepositoryContext, name: ReleaseName): ReleaseQuery {
  const repoId = row.id;
  if (name === "latest") return { repoId };
  if ("id" in name) return { repoId, id: name.id };
  return { repoId, tag: { name: name.tag, lower: name.tag.toLowerCase() } };
}

/** The condition for releases of a name in one repository. Tags are compared with case. */
export function isReleaseNamed({ repoId, id, tag }: Params<ReleaseQuery>): SQL | undefined {
  const isOfRepository = eq(releases.repoId, repoId);
  if (id) return and(isOfRepository, eq(releases.id, id));
  if (!tag) {
    return and(isOfRepository, eq(releases.isDraft, false), eq(releases.isPrerelease, false));
  }
  return and(isOfRepository, eq(releases.lowerTagName, tag.lower), eq(releases.tagName, tag.name));
}

const firstRelease = prepare((db, named: Params<ReleaseQuery>) =>
  selectReleases(db)
    .where(isReleaseNamed(named))
    .orderBy(...latestFirst)
    .limit(1),
);
