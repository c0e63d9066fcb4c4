import { getTableColumns, sql } from "drizzle-orm";

import { isBlockedBy, requireNotBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { newRepositoryId, type NewRepositoryRef } from "../../../db/new-repository-id.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { lfsObjects, type User } from "../../../db/schema/index.ts";
import { conflict, Failure, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { newForkName } from "../../../storage/object-names.ts";
import { refuseNarrowToken } from "./create-repository.ts";
import { type ExpiryInput, newExpiry } from "./expiry.ts";
import { joinFamily } from "./fork-family.ts";
import { type CreationContext, insertRepository } from "./insert-repository.ts";
import { checkRepositoryName } from "./repository-name.ts";

/** A fork takes what is undefined from its source. */
interface ForkOptions {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly expiry?: ExpiryInput | undefined;
}

/**
 * Forks a repository: creates another one with the same refs that shares the existing packs.
 *
 * Only the lists of refs, packs and large files are copied, so the time does not depend on the
 * repository's size. The object of the source notes the fork first, and the fork's row is written
 * last: a visible fork is complete. The fork's own object takes over from it when it is first used;
 * a fork whose row was never written is forgotten.
 *
 * SECURITY: a fork must not be visible to more people than its parent: if its owner is more visible
 * than the parent, the fork is private.
 *
 * @param source The repository to fork; the caller may read its code.
 * @throws Failure `conflict` if the owner has the source itself, a fork of it, another repository
 * of the name, or the maximum number of repositories; `forbidden` where the source's owner blocks
 * the creator; `not_found` if the source was deleted meanwhile; `invalid` for an end out of bounds.
 */
export async function forkRepository(
  ctx: Ctx,
  source: RepositoryContext,
  creation: CreationContext,
  { name: newName, description, expiry }: ForkOptions,
): Promise<RepositoryContext> {
  const { row } = source;
  const { owner, creator } = creation;
  const name = newName || row.name;
  checkRepositoryName(name);
  if (owner.id === row.ownerId) {
    throw conflict("a repository can't be forked into the account that owns it");
  }
  refuseNarrowToken(ctx, row.visibility !== "public" || owner.visibility !== "public");

  const ending = newExpiry(expiry, ctx.now);
  const location = { objectName: newForkName(row.objectName), networkName: row.networkName };
  const stored = ctx.git.repository(row);
  // The refs of pull requests belong to the repository in which they were opened.
  await stored.fork(location, ctx.now);

  const columns = {
    ...location,
    ...FORK_UNITS,
    name,
    isPrivate: row.isPrivate,
    description: description ?? row.description,
    defaultBranch: row.defaultBranch,
    isEmpty: row.isEmpty,
    sizeBytes: row.sizeBytes,
    expiry: ending,
  };
  try {
    const repo = await insertRepository(ctx, creation, columns, {
      parent: source,
      toMore: (fork) => [
        copyLargeFiles(ctx.db, { fork, parentId: row.id, now: ctx.now }),
        joinFamily(ctx.db, { fork, parentId: row.id }),
      ],
    });
    const parent: RepositoryContext = { ...source, row: { ...row, forkCount: row.forkCount + 1 } };
    return { ...repo, parent };
  } catch (error) {
    const refusal = toRefusal(error, source, owner);
    if (!refusal) throw error;
    // The row was certainly not written, so nothing refers to the object.
    ctx.defer(stored.cancelFork(location));
    if (refusal.kind === "not_found") {
      await requireNotBlocked(ctx.db, isBlockedBy(sql`${creator.id}`, sql`${row.ownerId}`));
    }
    throw refusal;
  }
}

interface SharedFiles {
  readonly fork: NewRepositoryRef;
  readonly parentId: number;
  readonly now: number;
}

/**
 * Gives a fork the large files of its parent. They are not copied: every repository with a row for
 * a file shares it.
 */
const copyLargeFiles = prepare((db, { fork, parentId, now }: Params<SharedFiles>) =>
  insertSelect(
    db,
    lfsObjects,
    { ...getTableColumns(lfsObjects), repoId: newRepositoryId(fork), createdAt: now },
    sql`from ${lfsObjects} where ${lfsObjects.repoId} = ${parentId}`,
  ),
);

function toRefusal(error: unknown, { row, owner: from }: RepositoryContext, owner: User) {
  if (isViolation(error, "UNIQUE", "repositories.parent_id")) {
    const path = `${from.name}/${row.name}`;
    return conflict(
      `repository is already forked by user [uname: ${owner.name}, repo path: ${path}]`,
    );
  }
  // The parent was deleted meanwhile, or a block forbids the fork.
  if (isViolation(error, "NOT NULL", "repositories.is_private")) return notFound();
  if (!(error instanceof Failure)) return undefined;
  return error.kind === "forbidden" ? conflict(error.message) : error;
}

/** The units of a fork: only code, and pull requests to its parent. */
const FORK_UNITS = {
  hasIssues: false,
  hasReleases: false,
  hasWiki: false,
  hasProjects: false,
  hasPackages: false,
  hasActions: false,
};
