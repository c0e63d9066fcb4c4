import { getTableColumns, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { isViolation } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { lfsObjects, repositories, type User, type Visibility } from "../../db/schema/index.ts";
import { record } from "../../events/record.ts";
import { conflict, Failure, notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Snapshot } from "../../storage/repository-records.ts";
import { refuseNarrowToken } from "./create-repository.ts";
import { type Foundation, insertRepository } from "./insert-repository.ts";
import { checkRepositoryName } from "./repository-name.ts";

/** From the most open to the least. */
const VISIBILITIES: readonly Visibility[] = ["public", "limited", "private"];

/**
 * Forks a repository: another one with the same refs, that shares the packs there are.
 *
 * Nothing is copied but the lists of refs, packs and large files, so the time it takes does not
 * depend on the size. The object of the fork is made first and its row last: a fork that can be seen is whole,
 * and an object whose row was never written removes itself.
 *
 * SECURITY: nobody sees a fork who could not see its parent by being anybody: where its owner is
 * more open than the parent is, the fork is private.
 *
 * @param source What is forked; the caller may read its code.
 * @throws Failure `conflict` if the owner has the source itself, a fork of it, another repository
 * of the name, or as many repositories as they may have.
 */
export async function forkRepository(
  ctx: Ctx,
  source: RepositoryContext,
  foundation: Foundation,
  wantedName: string | undefined,
): Promise<RepositoryContext> {
  const { row } = source;
  const { owner } = foundation;
  const name = wantedName || row.name;
  checkRepositoryName(name);
  if (owner.id === row.ownerId) {
    throw conflict("a repository can't be forked into the account that owns it");
  }
  refuseNarrowToken(ctx, row.visibility !== "public" || owner.visibility !== "public");

  const place = { objectName: crypto.randomUUID(), networkName: row.networkName };
  const stored = ctx.git.repository(place);
  await stored.adopt(withoutHiddenRefs(await ctx.git.repository(row).share()));

  const openness = VISIBILITIES.indexOf(owner.visibility);
  const isLessOpen = sql`case visibility
    when 'public' then 0
    when 'limited' then 1
    else 2
  end > ${openness}`;
  const columns = {
    ...place,
    ...UNITS,
    name,
    parentId: row.id,
    isFork: true,
    // As the parent is at this moment: it may just have become private.
    isPrivate: sql<boolean>`(
      select is_private or ${isLessOpen} from ${repositories} where id = ${row.id}
    )`,
    description: row.description,
    defaultBranch: row.defaultBranch,
    isEmpty: row.isEmpty,
    sizeBytes: row.sizeBytes,
    lfsSizeBytes: sql<number>`(select lfs_size_bytes from ${repositories} where id = ${row.id})`,
  };
  try {
    const repo = await insertRepository(
      ctx,
      foundation,
      columns,
      (repoId) =>
        record(ctx, {
          type: "repository.forked",
          repoId,
          ownerId: owner.id,
          parentId: row.id,
        }),
      // The files stay where they are: each belongs to whoever has a row of it.
      (repoId) => [
        insertSelect(
          ctx.db,
          lfsObjects,
          { ...getTableColumns(lfsObjects), repoId, createdAt: ctx.now },
          sql`from ${lfsObjects} where ${lfsObjects.repoId} = ${row.id}`,
        ),
      ],
    );
    const parent: RepositoryContext = { ...source, row: { ...row, forkCount: row.forkCount + 1 } };
    return { ...repo, parent };
  } catch (error) {
    const refusal = toRefusal(error, source, owner);
    if (!refusal) throw error;
    // The row was not written for certain, so nobody will ever ask for the object.
    ctx.defer(stored.destroy());
    throw refusal;
  }
}

function toRefusal(error: unknown, { row, owner: from }: RepositoryContext, owner: User) {
  if (isViolation(error, "UNIQUE", "repositories.parent_id")) {
    const path = `${from.name}/${row.name}`;
    return conflict(
      `repository is already forked by user [uname: ${owner.name}, repo path: ${path}]`,
    );
  }
  // The parent was deleted meanwhile.
  if (isViolation(error, "NOT NULL", "repositories.is_private")) return notFound();
  if (!(error instanceof Failure)) return undefined;
  return error.kind === "forbidden" ? conflict(error.message) : error;
}

/** What a fork is for: code, and pull requests to where it came from. */
const UNITS = {
  hasIssues: false,
  hasReleases: false,
  hasWiki: false,
  hasProjects: false,
  hasPackages: false,
  hasActions: false,
};

/** Pull requests belong to the repository they were made in. */
const withoutHiddenRefs = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  refs: snapshot.refs.filter(({ name }) => !name.startsWith("refs/pull/")),
});
