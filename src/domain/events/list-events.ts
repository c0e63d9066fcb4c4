import { asc, eq, sql, type SQL } from "drizzle-orm";

import { boundTokenId, seesPublicOnly } from "../../auth/actor.ts";
import { isAllowed } from "../../auth/access/permission.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, columnsOf, flagColumn } from "../../db/db.ts";
import { events, repositories, users, type User } from "../../db/schema/index.ts";
import type { EventEntry } from "../../shapes/events/event.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Membership } from "../accounts/find-account.ts";
import { isAccountEventVisible, isEventVisible } from "./event-visibility.ts";
import { isActorShown } from "./is-actor-shown.ts";

/** The requested part of a stream. */
export interface Cursor {
  /** Only events after this one; 0 for all. */
  readonly after: number;
  readonly size: number;
}

export interface EventSlice {
  readonly items: EventEntry[];
  /** The cursor of the next page. */
  readonly next: number;
}

/** Rows examined for one page, including events that the caller may not see. */
const EXAMINED_MAX = 1000;

/** Lists the events of a repository, oldest first. */
export function listRepositoryEvents(
  ctx: Ctx,
  repo: RepositoryContext,
  cursor: Cursor,
): Promise<EventSlice> {
  const isListed = isRepositoryEventListed(ctx, isAllowed(repo, { mode: "admin" }));
  return listEvents(ctx, eq(events.repoId, repo.row.id), isListed, cursor);
}

/** Lists the events of an organization and its repositories, oldest first. */
export function listOrganizationEvents(
  ctx: Ctx,
  org: User,
  { isMember, isOwner }: Membership,
  cursor: Cursor,
): Promise<EventSlice> {
  const isInside = isMember && !isNarrowed(ctx);
  const ownsAll = isOwner && !isNarrowed(ctx);
  const isListed = anyOf(
    isRepositoryEventListed(ctx, ownsAll),
    sql`(
      ${events.repoId} is null
      and ${isInside ? sql`1` : eq(events.type, "organization.created")}
      and ${ownsAll ? sql`1` : sql`not ${isAdministrative}`}
      and ${isAccountEventVisible(ctx.actor, { ownsAll })}
    )`,
    ownsAll ? isDeletionListed : undefined,
  );
  return listEvents(ctx, eq(events.ownerId, org.id), isListed, cursor);
}

/** Lists the events of the caller's account and repositories, oldest first. */
export function listOwnEvents(ctx: Ctx, user: User, cursor: Cursor): Promise<EventSlice> {
  const isUnrestricted = !isNarrowed(ctx);
  const isListed = anyOf(
    isRepositoryEventListed(ctx, isUnrestricted),
    isUnrestricted
      ? sql`(
          ${events.repoId} is null
          and ${isAccountEventVisible(ctx.actor, { ownsAll: true })}
        )`
      : undefined,
    isUnrestricted ? isDeletionListed : undefined,
  );
  return listEvents(ctx, eq(events.ownerId, user.id), isListed, cursor);
}

/** Whether the credential reaches less than the caller's own account. */
const isNarrowed = ({ actor }: Ctx): boolean =>
  seesPublicOnly(actor) || boundTokenId(actor) !== undefined;

/**
 * Events of keys, webhooks, mirrors, blocks, collaborators, offered transfers and of the repositories of teams are listed for
 * administrators only.
 */
const isAdministrative = sql`(
  ${events.type} in (
    'public_key.added', 'public_key.removed', 'block.created', 'block.deleted',
    'repository.transfer_started', 'repository.transfer_cancelled', 'repository.transfer_rejected',
    'team.repository_added', 'team.repository_removed', 'migration.failed'
  )
  or ${events.type} like 'hook.%' or ${events.type} like 'mirror.%'
  or ${events.type} like 'push_mirror.%' or ${events.type} like 'collaborator.%'
)`;
/** Of a deleted repository, only the deletion is listed. */
const isDeletionListed = sql`(
  ${repositories.id} is null and ${events.type} = 'repository.deleted'
)`;

/** The condition for an event of a repository that the caller may currently see. */
const isRepositoryEventListed = (ctx: Ctx, administers: boolean): SQL =>
  allOf(
    sql`${repositories.id} is not null`,
    isEventVisible(ctx.actor),
    administers ? undefined : sql`not ${isAdministrative}`,
  );

/**
 * Lists a page of a stream, in the order of the events' ids.
 *
 * A cursor skips no event that becomes visible later. D1 has a single writer: an id is assigned within the
 * transaction that writes the row, and the next transaction starts after that one is stored, so a reader
 * that sees an event sees all events with smaller ids. A lagging replica returns a shorter stream, never
 * one with gaps.
 *
 * Cost: one round trip; at most `EXAMINED_MAX` rows of the index.
 */
async function listEvents(
  ctx: Ctx,
  isIn: SQL,
  isListed: SQL,
  { after, size }: Cursor,
): Promise<EventSlice> {
  const examined = sql`(
    select ${events.id} as id
    from ${events}
    where ${isIn} and ${events.id} > ${after}
    order by ${events.id}
    limit ${EXAMINED_MAX}
  ) looked`;
  const [rows, [last]] = await ctx.db.batch([
    ctx.db
      .select({
        event: columnsOf(events, "e"),
        actor: columnsOf(users, "u"),
        isActorShown: flagColumn(isActorShown(ctx.actor), "is_actor_shown"),
        repoId: sql<number | null>`${repositories.id}`.as("listed_repo_id"),
        repoName: sql<string>`${repositories.name}`.as("listed_repo_name"),
        repoOwner:
          sql<string>`(select o.name from users o where o.id = ${repositories.ownerId})`.as(
            "listed_repo_owner",
          ),
      })
      .from(events)
      .innerJoin(examined, sql`looked.id = ${events.id}`)
      .leftJoin(repositories, eq(repositories.id, events.repoId))
      .leftJoin(users, eq(users.id, events.actorId))
      .where(isListed)
      .orderBy(asc(events.id))
      .limit(size),
    ctx.db.select({ id: sql<number | null>`max(looked.id)`.as("last_id") }).from(examined),
  ]);
  const items = rows.map(({ event, actor, isActorShown: isShown, ...repo }) => ({
    event,
    actor: isShown ? actor : undefined,
    repo:
      repo.repoId === null
        ? undefined
        : { id: repo.repoId, name: repo.repoName, owner: repo.repoOwner },
  }));
  const lastListed = items.length === size ? items.at(-1)?.event.id : undefined;
  return { items, next: lastListed ?? last?.id ?? after };
}
