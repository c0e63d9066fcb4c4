import { and, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { releases } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isReleaseNamed, latestFirst } from "./find-release.ts";

const shown = alias(releases, "shown");

/** A release among the others of its repository. */
export interface ReleaseNeighbours {
  /** The tag of the published release before it; undefined for the first. */
  readonly previousTag: string | undefined;
  /** The tag of the latest release, as `findRelease` finds it. */
  readonly latestTag: string | undefined;
}

/**
 * Finds the published release before that of a tag, and the latest one.
 *
 * Cost: one round trip of the database, and a row of each.
 */
export async function findNeighbours(
  { db }: Ctx,
  repo: RepositoryContext,
  tag: string,
): Promise<ReleaseNeighbours> {
  const { previous, latest } = await batch(
    db,
    neighbours(db, { repoId: repo.row.id, lowerTagName: tag.toLowerCase() }),
  );
  return { previousTag: previous[0]?.tagName, latestTag: latest[0]?.tagName };
}

interface ReleaseTag {
  readonly repoId: number;
  readonly lowerTagName: string;
}

const neighbours = prepareAll((db, { repoId, lowerTagName }: Params<ReleaseTag>) => ({
  previous: db
    .select({ tagName: releases.tagName })
    .from(releases)
    .innerJoin(shown, and(eq(shown.repoId, repoId), eq(shown.lowerTagName, lowerTagName)))
    .where(
      and(
        eq(releases.repoId, repoId),
        sql`+${releases.isDraft} = 0`,
        sql`(${releases.createdAt}, ${releases.id}) < (${shown.createdAt}, ${shown.id})`,
      ),
    )
    .orderBy(...latestFirst)
    .limit(1),
  latest: db
    .select({ tagName: releases.tagName })
    .from(releases)
    .where(isReleaseNamed({ repoId }))
    .orderBy(...latestFirst)
    .limit(1),
}));
