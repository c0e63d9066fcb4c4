import { and, eq, sql, type AnyColumn, type SQL } from "drizzle-orm";

import { blockedUserIds } from "../../../auth/access/blocks.ts";
import {
  deleteTransfer,
  isNoneOffered,
  isStillPending,
  moveGrants,
} from "../../../auth/access/transfers.ts";
import { insertWatchesOfNewOwner } from "../../../auth/access/team-changes.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  repositories,
  repositoryRedirects,
  stars,
  watches,
  type Repository,
  type RepositoryTransfer,
  type User,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, invalid, notFound, type Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoryContext } from "../repository/find-repository.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { requireRoom } from "../../people/quotas/owner-quota.ts";
import { detachLabels } from "../labels/detach-labels.ts";
import { forksFollow, isForkPrivate } from "../../people/visibility/fork-visibility.ts";
import { deleteOutsiderToggles } from "../repository/outsider-toggles.ts";
import { limitReached, withinLimit } from "../repository/repository-limit.ts";

/** The new owner of a repository, and the permission by which it moves. */
export interface Move {
  readonly newOwner: User;
  /** Teams of the new owner that are to reach it; others are ignored. */
  readonly teamIds: readonly number[];
  /** The pending transfer that the move accepts; undefined for a transfer at once. */
  readonly accepted?: RepositoryTransfer;
}

/**
 * Gives a repository to a new owner, in one batch: its row, the redirect from its old name, teams
 * and collaborators, stars and watches of users who may not see it any more, labels of the
 * organization that it leaves on its issues, and the event. Many such labels go with the
 * consequences of the event.
 *
 * If new repositories are watched automatically, the user who transferred it and the new owner's
 * teams watch it.
 *
 * Its forks become private or public with it.
 *
 * Git data, large files, keys and webhooks belong to the repository by its id, and stay where they
 * are.
 *
 * The update itself checks the present owner, the pending transfer, and the limit of the new owner:
 * of two concurrent moves, one wins.
 *
 * SECURITY: a fork must not become visible to more people than its parent; it becomes private
 * instead.
 *
 * @returns The repository as the caller may see it now.
 * @throws Failure `invalid` where the new owner has a repository of that name or a fork of the same
 * parent; `forbidden` where the new owner has the maximum number of repositories, `too_large` where
 * they may not store as much more; `conflict` where the repository was moved or offered meanwhile,
 * and `not_found` where the accepted transfer or the repository has gone.
 */
export async function moveRepository(
  ctx: Ctx,
  { row, owner }: RepositoryContext,
  { newOwner, teamIds, accepted }: Move,
): Promise<RepositoryContext> {
  const { db, now, actor } = ctx;
  await requireRoom(ctx, newOwner, row.sizeBytes + row.lfsSizeBytes + row.wikiSizeBytes);
  const isThis = eq(repositories.id, row.id);
  const isPending = accepted ? isStillPending(accepted) : isNoneOffered(row.id);
  const isCurrent = sql`(${repositories.ownerId} = ${owner.id} and ${isPending})`;
  const update = db
    .update(repositories)
    .set({
      ownerId: withinLimit(ctx, newOwner),
      lowerName: onlyWhile<string>(isCurrent, sql`${repositories.lowerName}`),
      isPrivate: isPrivateAt(newOwner),
      updatedAt: now,
    })
    .where(isThis);
  const currentName = sql`(select lower_name from ${repositories} where ${isThis})`;
  const names = { from: `${owner.name}/${row.name}`, to: `${newOwner.name}/${row.name}` };
  const event = {
    type: "repository.transferred",
    repoId: row.id,
    formerOwnerId: owner.id,
    ...names,
  } as const;
  const entry = { kind: "repository.transferred", repoId: row.id, details: names } as const;
  try {
    const { found } = await batch(db, {
      update,
      event: recordIfChanged(ctx, { ...event, ownerId: newOwner.id }, row),
      // One for each side.
      audits: [
        recordAuditIfChanged(ctx, { ...entry, ownerId: owner.id }),
        recordAuditIfChanged(ctx, { ...entry, ownerId: newOwner.id }),
      ],
      formerRedirect: db
        .delete(repositoryRedirects)
        .where(
          and(
            eq(repositoryRedirects.ownerId, newOwner.id),
            sql`${repositoryRedirects.lowerName} = ${currentName}`,
          ),
        ),
      redirect: insertSelect(
        db,
        repositoryRedirects,
        { ownerId: owner.id, lowerName: repositories.lowerName, repoId: row.id },
        sql`from ${repositories} where ${isThis}`,
      ).onConflictDoUpdate({
        target: [repositoryRedirects.ownerId, repositoryRedirects.lowerName],
        set: { repoId: row.id },
      }),
      transfer: deleteTransfer(db, row.id),
      grants: moveGrants(db, row.id, newOwner.id, teamIds),
      watch: insertSelect(
        db,
        watches,
        {
          userId: accepted?.doerId ?? actor.user?.id ?? 0,
          repoId: row.id,
          visibility: repositories.visibility,
          createdAt: now,
        },
        sql`from ${repositories} where ${isThis} and ${ctx.config.isAutoWatchOn}`,
      ).onConflictDoNothing(),
      ownerWatches: insertWatchesOfNewOwner(db, row.id, newOwner.id, {
        now,
        isOn: sql`${ctx.config.isAutoWatchOn}`,
      }),
      toggles: deleteStrandedToggles(ctx, row, newOwner),
      forks: forksFollow(ctx, { repoId: row.id }),
      labels: owner.kind === "organization" ? detachLabels(ctx, row.id, owner.id) : [],
      found: selectRepositories(db, callerSql(actor)).where(isThis),
    });
    const [moved] = found;
    if (!moved) throw notFound();
    return toRepositoryContext(actor, moved);
  } catch (error) {
    throw toRefusal(ctx, error, row, newOwner, accepted) ?? error;
  }
}

/**
 * Whether a repository is private below a new owner: a fork as its parent requires there, others as
 * before.
 */
const isPrivateAt = (newOwner: User): SQL<boolean> => sql<boolean>`coalesce(
  (
    select ${isForkPrivate(sql`parent.visibility`, sql`${newOwner.visibility}`)}
    from ${repositories} parent
    where parent.id = ${repositories.parentId}
  ),
  ${repositories.isPrivate}
)`;

/**
 * Deletes stars and watches of users whom the new owner blocks, or who may not see the repository
 * any more.
 */
function deleteStrandedToggles(ctx: Ctx, row: Repository, newOwner: User) {
  const isOfBlocked = (userId: AnyColumn) => sql`${userId} in ${blockedUserIds(newOwner.id)}`;
  // Whether a fork has become private is known only in the batch. Where it is public, restricted
  // users alone may have lost sight of it, whose stars count nothing that others could not see.
  const visibilities = new Set(["private", newOwner.visibility] as const);
  visibilities.delete("public");
  const outsiders = [...visibilities].flatMap((visibility) => {
    const after: Repository = { ...row, ownerId: newOwner.id, visibility };
    const isAfter = sql`exists (
      select 1 from ${repositories}
      where ${repositories.id} = ${row.id} and ${repositories.visibility} = ${visibility}
    )`;
    return deleteOutsiderToggles(ctx, after, () => isAfter);
  });
  return [
    ctx.db.delete(stars).where(and(eq(stars.repoId, row.id), isOfBlocked(stars.userId))),
    ctx.db.delete(watches).where(and(eq(watches.repoId, row.id), isOfBlocked(watches.userId))),
    ...outsiders,
  ] as const;
}

function toRefusal(
  ctx: Ctx,
  error: unknown,
  row: Repository,
  newOwner: User,
  accepted: RepositoryTransfer | undefined,
): Failure | undefined {
  if (isViolation(error, "NOT NULL", "repositories.owner_id")) return limitReached(ctx, newOwner);
  if (isViolation(error, "NOT NULL", "repositories.lower_name")) {
    return accepted ? notPending(row) : alreadyOffered(newOwner, row);
  }
  if (isViolation(error, "UNIQUE", "repositories.lower_name")) return nameTaken(newOwner, row);
  if (isViolation(error, "UNIQUE", "repositories.parent_id")) {
    return invalid(`repository is already forked by user [uname: ${newOwner.name}]`);
  }
  return undefined;
}

/** The refusals that starting and accepting a transfer share. */
export const nameTaken = (newOwner: User, { name }: Repository): Failure =>
  invalid(`repository already exists [uname: ${newOwner.name}, name: ${name}]`);
export const alreadyOffered = (newOwner: User, { name }: Repository): Failure =>
  conflict(`repository is already being transferred [uname: ${newOwner.name}, name: ${name}]`);
export const notPending = ({ id }: Repository): Failure =>
  notFound(`repository doesn't have a pending transfer [repo_id: ${id}]`);
