import { and, between, eq, max } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { repositories, users } from "../../../db/schema/index.ts";

/**
 * Ids of a file of the sitemap: a file has the pages of a range of ids, so that no file is found by
 * counting those before it.
 */
const IDS_PER_FILE = 1000;

/** The files of the sitemap for each kind of pages. */
export interface SitemapFiles {
  readonly users: number;
  readonly repos: number;
}

/** A page of the sitemap. */
export interface SitemapEntry {
  /** The names in its path. */
  readonly names: readonly string[];
  readonly updatedAt: number;
}

/** Counts the files of the sitemap. Cost: one round trip that reads two rows. */
export async function countSitemapFiles({ db }: Ctx): Promise<SitemapFiles> {
  const { ofUsers, ofRepos } = await batch(db, lastIds(db, {}));
  const filesOf = ([last]: readonly { id: number | null }[]): number =>
    Math.ceil((last?.id ?? 0) / IDS_PER_FILE);
  return { users: filesOf(ofUsers), repos: filesOf(ofRepos) };
}

const lastIds = prepareAll((db) => ({
  ofUsers: db.select({ id: max(users.id).as("id") }).from(users),
  ofRepos: db.select({ id: max(repositories.id).as("id") }).from(repositories),
}));

/**
 * Lists the pages of a file of the sitemap: public accounts, or public repositories.
 *
 * Cost: one round trip that reads 1,000 rows at most.
 *
 * @param file Counted from 1.
 */
export async function listSitemap(
  { db }: Ctx,
  kind: keyof SitemapFiles,
  file: number,
): Promise<SitemapEntry[]> {
  const range = { first: (file - 1) * IDS_PER_FILE + 1, last: file * IDS_PER_FILE };
  if (kind === "users") {
    const rows = await publicAccounts(db, range);
    return rows.map(({ name, updatedAt }) => ({ names: [name], updatedAt }));
  }
  const rows = await publicRepositories(db, range);
  return rows.map(({ owner, name, updatedAt }) => ({ names: [owner, name], updatedAt }));
}

interface IdRange {
  readonly first: number;
  readonly last: number;
}

const publicAccounts = prepare((db, { first, last }: Params<IdRange>) =>
  db
    .select({ name: users.name, updatedAt: users.updatedAt })
    .from(users)
    .where(and(between(users.id, first, last), eq(users.visibility, "public"))),
);

const publicRepositories = prepare((db, { first, last }: Params<IdRange>) =>
  db
    .select({
      owner: users.name,
      name: repositories.name,
      updatedAt: repositories.updatedAt,
    })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(between(repositories.id, first, last), eq(repositories.visibility, "public"))),
);
