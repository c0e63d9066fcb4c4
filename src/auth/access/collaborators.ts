import { and, asc, eq, ne, or, sql, type SQL } from "drizzle-orm";

import { allOf, columnsOf, flagColumn, type Database } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import type { Params } from "../../db/prepared.ts";
import { collaborations, repositories, users } from "../../db/schema/index.ts";
import { isBlockBetween, unlessBlocked } from "./blocks.ts";

// Statements about collaborations, for the batches of the operations in `domain`.

type CollaboratorAccess = 1 | 2 | 3;

/** Selects the ids of a repository's collaborators. */
const collaboratorIds = (repoId: number | SQL): SQL => sql`(
  select ${collaborations.userId} from ${collaborations} where ${collaborations.repoId} = ${repoId}
)`;

/**
 * Selects a page of a repository's collaborators with their access, oldest first, and their total
 * count.
 */
export function selectCollaboratorPage(
  db: Database,
  repoId: number | SQL,
  isListed: SQL,
  { size, offset }: Params<{ size: number; offset: number }>,
) {
  const isOne = allOf(eq(collaborations.repoId, repoId), isListed);
  const rows = db
    .select({ user: columnsOf(users, "u"), access: collaborations.access })
    .from(collaborations)
    .innerJoin(users, eq(users.id, collaborations.userId))
    .where(isOne)
    .orderBy(asc(collaborations.createdAt), asc(collaborations.userId))
    .limit(size)
    .offset(offset);
  const counted = db
    .select({ total: sql<number>`count(*)`.as("total") })
    .from(collaborations)
    .innerJoin(users, eq(users.id, collaborations.userId))
    .where(isOne);
  return { rows, counted };
}

/** Selects accounts by a condition, each with whether the account collaborates on a repository. */
export const selectPossibleCollaborators = (
  db: Database,
  repoId: number | SQL,
  isOne: SQL,
  isSeen: SQL,
) =>
  db
    .select({
      user: columnsOf(users, "u"),
      isCollaborator: flagColumn(sql`${users.id} in ${collaboratorIds(repoId)}`, "is_collaborator"),
      isSeen: flagColumn(isSeen, "is_seen"),
    })
    .from(users)
    .where(isOne);

/** The column whose violation of `NOT NULL` means that a block forbids a collaboration. */
export const BLOCKED_COLLABORATOR = "collaborations.user_id";

/**
 * Makes a user a collaborator of a repository; changes nothing if they are one. Fails where a block
 * separates the user from the repository's owner, see `BLOCKED_COLLABORATOR`.
 */
export function insertCollaborator(
  db: Database,
  repo: { readonly id: number | SQL },
  userId: number | SQL,
  access: CollaboratorAccess | SQL,
  now: number | SQL,
) {
  const isBlocked = isBlockBetween(sql`${userId}`, sql`${repositories.ownerId}`);
  return insertSelect(
    db,
    collaborations,
    { repoId: repo.id, userId: unlessBlocked(isBlocked, userId), access, createdAt: now },
    sql`from ${repositories} where ${repositories.id} = ${repo.id}`,
  ).onConflictDoNothing();
}

/** Changes the access of a collaborator; changes nothing if they have it, or are none. */
export const updateCollaborator = (
  db: Database,
  repoId: number | SQL,
  userId: number | SQL,
  access: CollaboratorAccess | SQL<CollaboratorAccess>,
) =>
  db
    .update(collaborations)
    .set({ access })
    .where(and(isOne(repoId, userId), ne(collaborations.access, access)));

/** Makes a user no collaborator of a repository any more. */
export const deleteCollaborator = (db: Database, repoId: number | SQL, userId: number | SQL) =>
  db.delete(collaborations).where(isOne(repoId, userId));

const isOne = (repoId: number | SQL, userId: number | SQL) =>
  and(eq(collaborations.repoId, repoId), eq(collaborations.userId, userId));

/** Deletes the collaborations of two accounts on each other's repositories. */
export const deleteCollaborationsBetween = (db: Database, oneId: number, otherId: number) =>
  db.delete(collaborations).where(or(isOn(oneId, otherId), isOn(otherId, oneId)));

const isOn = (userId: number | SQL, ownerId: number) =>
  and(
    eq(collaborations.userId, userId),
    sql`${collaborations.repoId} in ${repositoryIdsOf(ownerId)}`,
  );

const repositoryIdsOf = (ownerId: number): SQL => sql`(
  select ${repositories.id} from ${repositories} where ${repositories.ownerId} = ${ownerId}
)`;
