import { and, count, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { releases } from "../../../db/schema/index.ts";
import type { ReleaseContext } from "../../../shapes/releases/release.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { latestFirst, seesDrafts, selectReleases, toReleaseContext } from "./find-release.ts";

/** The filter of a list of releases; what is undefined does not filter. */
export interface ReleaseFilter {
  readonly isDraft?: boolean | undefined;
  readonly isPrerelease?: boolean | undefined;
  /** A part of the title or the tag's name, in any case; "" for all. */
  readonly text?: string | undefined;
}

/**
 * Lists the releases of a repository that the caller may see, last created first. Drafts are listed
 * for writers.
 */
export async function listReleases(
  { db }: Ctx,
  repo: RepositoryContext,
  filter: ReleaseFilter,
  { size, offset }: Slice,
): Promise<Listed<ReleaseContext>> {
  const { isDraft, isPrerelease, text } = filter;
  const list = {
    repoId: repo.row.id,
    seesDrafts: seesDrafts(repo),
    isDraft,
    isPrerelease,
    text: text ? { text, lower: text.toLowerCase() } : undefined,
    size,
    offset,
  };
  return toListedPage(await batch(db, releasePage(db, list)), (row) => toReleaseContext(repo, row));
}

interface ReleaseList extends Slice, Pick<ReleaseFilter, "isDraft" | "isPrerelease"> {
  readonly repoId: number;
  readonly seesDrafts: boolean;
  readonly text: SearchedText | undefined;
}

/**
 * A text that is searched in titles as SQLite lowers it, and in names of tags as JavaScript does.
 */
interface SearchedText {
  readonly text: string;
  readonly lower: string;
}

const releasePage = prepareAll((db, list: Params<ReleaseList>) => {
  const isListed = and(
    eq(releases.repoId, list.repoId),
    matchesFilter(list),
    list.seesDrafts ? undefined : sql`not ${releases.isDraft}`,
    list.text && contains(list.text),
  );
  return {
    rows: selectReleases(db)
      .where(isListed)
      .orderBy(...latestFirst)
      .limit(list.size)
      .offset(list.offset),
    counted: db
      .select({ total: count().as("total") })
      .from(releases)
      .where(isListed),
  };
});

/**
 * Both filters together are the start of an index that ends with the order. One alone would leave
 * its range unordered, so the sign keeps it out of the choice of the index: the rows come in order
 * from the one without filters.
 */
function matchesFilter({
  isDraft,
  isPrerelease,
}: Pick<ReleaseFilter, "isDraft" | "isPrerelease">): SQL | undefined {
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

const contains = ({ text, lower }: Params<SearchedText>): SQL => sql`(
  instr(lower(${releases.title}), lower(${text})) > 0
  or instr(${releases.lowerTagName}, ${lower}) > 0
)`;
