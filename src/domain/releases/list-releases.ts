import { and, count, desc, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { releases } from "../../db/schema/index.ts";
import type { ReleaseContext } from "../../shapes/releases/release.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { seesDrafts, selectReleases, toReleaseContext } from "./find-release.ts";

/** The filter of a list of releases; what is undefined does not filter. */
export interface ReleaseFilter {
  readonly isDraft?: boolean | undefined;
  readonly isPrerelease?: boolean | undefined;
  /** A part of the title or the tag's name, in any case; "" for all. */
  readonly text?: string | undefined;
}

/** Lists the releases of a repository that the caller may see, last created first. Drafts are listed for writers. */
export async function listReleases(
  { db }: Ctx,
  repo: RepositoryContext,
  filter: ReleaseFilter,
  { size, offset }: Slice,
): Promise<Listed<ReleaseContext>> {
  const isListed = and(
    eq(releases.repoId, repo.row.id),
    isWanted(filter),
    seesDrafts(repo) ? undefined : sql`not ${releases.isDraft}`,
    filter.text ? contains(filter.text) : undefined,
  );
  const [rows, [counted]] = await db.batch([
    selectReleases(db)
      .where(isListed)
      .orderBy(desc(releases.createdAt), desc(releases.id))
      .limit(size)
      .offset(offset),
    db
      .select({ total: count().as("total") })
      .from(releases)
      .where(isListed),
  ]);
  return { items: rows.map((row) => toReleaseContext(repo, row)), total: counted?.total ?? 0 };
}

/**
 * Both filters together are the start of an index that ends with the order. One alone would leave its range unordered,
 * so the sign keeps it out of the choice of the index: the rows come in order from the one without filters.
 */
function isWanted({ isDraft, isPrerelease }: ReleaseFilter): SQL | undefined {
  if (isDraft !== undefined && isPrerelease !== undefined) {
    return and(eq(releases.isDraft, isDraft), eq(releases.isPrerelease, isPrerelease));
  }
  return and(
    isDraft === undefined ? undefined : sql`+${releases.isDraft} = ${Number(isDraft)}`,
    isPrerelease === undefined
      ? undefined
      : sql`+${releases.isPrerelease} = ${Number(isPrerelease)}`,
  );
}

const contains = (text: string): SQL => sql`(
  instr(lower(${releases.title}), lower(${text})) > 0
  or instr(${releases.lowerTagName}, ${text.toLowerCase()}) > 0
)`;
