import { and, eq, or, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { columnsOf, flagColumn, onlyWhile, type Database } from "../../db/db.ts";
import { derivedTable } from "../../db/derived-table.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  collaborations,
  organizationMembers,
  repositories,
  repositoryTransfers,
  teamMembers,
  teamRepositories,
  teams,
  users,
  type Repository,
  type RepositoryTransfer,
} from "../../db/schema/index.ts";
import { isBlockBetween, isBlockedBy, unlessBlocked } from "./blocks.ts";
import { isMemberOf, letsCreateRepositories, mayCreateIn } from "./organizations.ts";

const recipients = alias(users, "recipient");
/** The users to whom a repository is offered. */
const offered = derivedTable("offered", "userId");

// A pending transfer lets its recipients read the repository: the user it is offered to, or
// everybody who may create repositories in the organization it is offered to. They alone accept or
// reject it.

/**
 * The condition that a transfer is offered to a user, on the `repository_transfers` rows of a
 * query.
 */
const isRecipient = (userId: SQL): SQL => sql`(
  ${repositoryTransfers.recipientId} = ${userId}
  or ${mayCreateIn(sql`${repositoryTransfers.recipientId}`, userId)}
)`;

/**
 * Selects to whom each repository of a query is offered: "caller" if the user may accept, "other"
 * for any other pending transfer, null without one.
 */
export const pendingTransferTo = (userId: SQL): SQL => sql`(
  select case when ${isRecipient(userId)} then 'caller' else 'other' end
  from ${repositoryTransfers}
  where ${repositoryTransfers.repoId} = ${repositories.id}
)`;

/** The condition, on the `repositories` rows of a query, that a repository is offered to a user. */
export const isOfferedTo = (userId: SQL): SQL => sql`exists (
  select 1 from ${repositoryTransfers}
  where ${repositoryTransfers.repoId} = ${repositories.id} and ${isRecipient(userId)}
)`;

// D1 allows five terms in a compound select: these are each one term of a larger one.

/** Selects the ids of the repositories that are offered to a user. */
export const offeredRepositoryIds = (userId: number | SQL): SQL => sql`
  select ${repositoryTransfers.repoId} from ${repositoryTransfers}
  where ${repositoryTransfers.recipientId} in (
    select ${userId}
    union all select ${teams.orgId}
    from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
    where ${teamMembers.userId} = ${userId} and ${letsCreateRepositories}
  )`;

/** Selects the ids of the users to whom a repository is offered. */
export const recipientUserIds = (repoId: number | SQL): SQL => sql`
  select ${offered.userId} from (
    select ${repositoryTransfers.recipientId} as user_id from ${repositoryTransfers}
    where ${repositoryTransfers.repoId} = ${repoId}
    union all select ${teamMembers.userId}
    from ${repositoryTransfers}
    join ${teams} on ${teams.orgId} = ${repositoryTransfers.recipientId}
    join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
    where ${repositoryTransfers.repoId} = ${repoId} and ${letsCreateRepositories}
  ) ${offered}`;

/** Selects the pending transfer of a repository with both parties. */
export const selectTransfer = (
  db: Database,
  repoId: number | SQL,
  actorId: number | SQL | undefined,
) =>
  db
    .select({
      transfer: columnsOf(repositoryTransfers, "t"),
      doer: columnsOf(users, "d"),
      recipient: columnsOf(recipients, "r"),
      isInRecipient: flagColumn(
        isMemberOf(sql`${recipients.id}`, sql`${actorId ?? null}`),
        "is_in_recipient",
      ),
    })
    .from(repositoryTransfers)
    .innerJoin(users, eq(users.id, repositoryTransfers.doerId))
    .innerJoin(recipients, eq(recipients.id, repositoryTransfers.recipientId))
    .where(eq(repositoryTransfers.repoId, repoId));

/** Selects the teams that a pending transfer names. */
export const selectTransferTeams = (db: Database, repoId: number | SQL) =>
  db
    .select()
    .from(teams)
    .where(
      sql`${teams.id} in (
        select value from ${repositoryTransfers}, json_each(${repositoryTransfers.teamIds})
        where ${repositoryTransfers.repoId} = ${repoId}
      )`,
    )
    .orderBy(teams.lowerName);

/** Selects teams by their ids, each with whether a user belongs to its organization. */
export const selectTeamsById = (db: Database, ids: readonly number[], userId: number | SQL) =>
  db
    .select({
      team: columnsOf(teams, "t"),
      isInOrg: flagColumn(isMemberOf(sql`${teams.orgId}`, sql`${userId}`), "is_in_org"),
    })
    .from(teams)
    .where(sql`${teams.id} in (select value from json_each(${JSON.stringify(ids)}))`);

/** Columns of a new transfer whose violation of `NOT NULL` names why it can't be offered. */
export const OFFER_REFUSALS = {
  blocked: "repository_transfers.doer_id",
  nameTaken: "repository_transfers.recipient_id",
  noRoom: "repository_transfers.team_ids",
  stale: "repository_transfers.created_at",
} as const;

/**
 * Inserts a pending transfer, unless the recipient blocks who offers it, has a repository of that
 * name or no room for one more, or the repository is no longer its owner's; the batch fails then,
 * see `OFFER_REFUSALS`. A second transfer violates `UNIQUE`.
 */
export function insertTransfer(
  db: Database,
  repo: Repository,
  transfer: RepositoryTransfer,
  hasRoom: SQL,
) {
  const { doerId, recipientId, createdAt } = transfer;
  const isBlocked = isBlockedBy(sql`${doerId}`, sql`${recipientId}`);
  const isTaken = sql`exists (
    select 1 from ${repositories}
    where ${repositories.ownerId} = ${recipientId} and ${repositories.lowerName} = ${repo.lowerName}
  )`;
  const isCurrent = sql`exists (
    select 1 from ${repositories}
    where ${repositories.id} = ${repo.id} and ${repositories.ownerId} = ${repo.ownerId}
  )`;
  return db.insert(repositoryTransfers).values({
    ...transfer,
    doerId: unlessBlocked(isBlocked, doerId),
    recipientId: onlyWhile(sql`not ${isTaken}`, recipientId),
    teamIds: onlyWhile(hasRoom, sql`${JSON.stringify(transfer.teamIds)}`),
    createdAt: onlyWhile(isCurrent, createdAt),
  });
}

/** Deletes the pending transfer of a repository: the given one, or any. */
export const deleteTransfer = (db: Database, repoId: number | SQL, transfer?: RepositoryTransfer) =>
  db
    .delete(repositoryTransfers)
    .where(transfer ? isSame(transfer) : eq(repositoryTransfers.repoId, repoId))
    .returning({ repoId: repositoryTransfers.repoId });

/** The condition that a transfer is still pending as it was read. */
export const isStillPending = (transfer: RepositoryTransfer): SQL => sql`exists (
  select 1 from ${repositoryTransfers} where ${isSame(transfer)}
)`;

/** The condition that no transfer of a repository is pending. */
export const isNoneOffered = (repoId: number | SQL): SQL => sql`not exists (
  select 1 from ${repositoryTransfers} where ${repositoryTransfers.repoId} = ${repoId}
)`;

const isSame = ({ repoId, recipientId, createdAt }: RepositoryTransfer) =>
  and(
    eq(repositoryTransfers.repoId, repoId),
    eq(repositoryTransfers.recipientId, recipientId),
    eq(repositoryTransfers.createdAt, createdAt),
  );

/**
 * The statements that carry grants over to a repository's new owner: teams of the earlier owner
 * lose it, those of the new one that were named get it, and collaborators stay, except the new
 * owner, members of the new organization, whose rights its teams decide, and whom a block separates
 * from the new owner.
 */
export function moveGrants(
  db: Database,
  repoId: number | SQL,
  newOwnerId: number,
  teamIds: readonly number[],
) {
  const isMemberOfNewOwner = sql`exists (
    select 1 from ${organizationMembers}
    where ${organizationMembers.orgId} = ${newOwnerId}
      and ${organizationMembers.userId} = ${collaborations.userId}
  )`;
  return [
    db.delete(teamRepositories).where(eq(teamRepositories.repoId, repoId)),
    insertSelect(
      db,
      teamRepositories,
      { teamId: teams.id, repoId },
      sql`from ${teams}
        where ${teams.orgId} = ${newOwnerId}
          and ${teams.id} in (select value from json_each(${JSON.stringify(teamIds)}))`,
    ),
    db
      .delete(collaborations)
      .where(
        and(
          eq(collaborations.repoId, repoId),
          or(
            eq(collaborations.userId, newOwnerId),
            isMemberOfNewOwner,
            isBlockBetween(sql`${collaborations.userId}`, sql`${newOwnerId}`),
          ),
        ),
      ),
  ] as const;
}

/**
 * Cancels the pending transfers between two accounts: from one, or from a repository of one, to the
 * other.
 */
export const deleteTransfersBetween = (db: Database, oneId: number, otherId: number) =>
  db.delete(repositoryTransfers).where(or(isFromTo(oneId, otherId), isFromTo(otherId, oneId)));

const isFromTo = (fromId: number, toId: number) =>
  and(
    eq(repositoryTransfers.recipientId, toId),
    or(
      eq(repositoryTransfers.doerId, fromId),
      sql`exists (
        select 1 from ${repositories}
        where ${repositories.id} = ${repositoryTransfers.repoId}
          and ${repositories.ownerId} = ${fromId}
      )`,
    ),
  );
