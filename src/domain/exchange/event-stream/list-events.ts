import { and, asc, eq, gt, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { boundTokenId, seesPublicOnly } from "../../../auth/actor.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { batch, type Results } from "../../../db/batch.ts";
import { allOf, anyOf, columnsOf, type Database, flagColumn } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { events, repositories, users, type User } from "../../../db/schema/index.ts";
import { gone } from "../../../lib/failure.ts";
import type { EventEntry } from "../../../shapes/events/event.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Membership } from "../../people/accounts/find-account.ts";
import {
  type EventReader,
  eventReaderOf,
  isAccountEventVisible,
  isEventVisible,
} from "./event-visibility.ts";
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
export async function listRepositoryEvents(
  ctx: Ctx,
  repo: RepositoryContext,
  cursor: Cursor,
): Promise<EventSlice> {
  const listed = { repoId: repo.row.id, administers: isAllowed(repo, { mode: "admin" }) };
  return toSlice(
    cursor,
    await batch(ctx.db, eventsOfRepository(ctx.db, { ...toPage(ctx, cursor), ...listed })),
  );
}

const eventsOfRepository = prepareAll(
  (db, p: Params<EventPage & { repoId: number; administers: boolean }>) =>
    selectEvents(
      db,
      p,
      { stream: repositories, column: events.repoId, id: p.repoId },
      isRepositoryEventListed(p.reader, p.administers),
    ),
);

/** Lists the events of an organization and its repositories, oldest first. */
export async function listOrganizationEvents(
  ctx: Ctx,
  org: User,
  { isMember, isOwner }: Membership,
  cursor: Cursor,
): Promise<EventSlice> {
  const listed = {
    orgId: org.id,
    isInside: isMember && !isNarrowed(ctx),
    ownsAll: isOwner && !isNarrowed(ctx),
  };
  return toSlice(
    cursor,
    await batch(ctx.db, eventsOfOrganization(ctx.db, { ...toPage(ctx, cursor), ...listed })),
  );
}

type OrganizationPage = EventPage & {
  readonly orgId: number;
  readonly isInside: boolean;
  readonly ownsAll: boolean;
};

const eventsOfOrganization = prepareAll((db, p: Params<OrganizationPage>) => {
  const { reader, isInside, ownsAll } = p;
  const isListed = anyOf(
    isRepositoryEventListed(reader, ownsAll),
    sql`(
      ${events.repoId} is null
      and ${isInside ? sql`1` : eq(events.type, "organization.created")}
      and ${ownsAll ? sql`1` : sql`not ${isAdministrative}`}
      and ${isAccountEventVisible(reader, { ownsAll })}
    )`,
    ownsAll ? isDeletionListed : undefined,
  );
  return selectEvents(db, p, { stream: users, column: events.ownerId, id: p.orgId }, isListed);
});

/** Lists the events of the caller's account and repositories, oldest first. */
export async function listOwnEvents(ctx: Ctx, user: User, cursor: Cursor): Promise<EventSlice> {
  const listed = { userId: user.id, isUnrestricted: !isNarrowed(ctx) };
  return toSlice(
    cursor,
    await batch(ctx.db, eventsOfUser(ctx.db, { ...toPage(ctx, cursor), ...listed })),
  );
}

const eventsOfUser = prepareAll(
  (db, p: Params<EventPage & { userId: number; isUnrestricted: boolean }>) => {
    const { reader, isUnrestricted } = p;
    const isListed = anyOf(
      isRepositoryEventListed(reader, isUnrestricted),
      isUnrestricted
        ? sql`(
            ${events.repoId} is null
            and ${isAccountEventVisible(reader, { ownsAll: true })}
          )`
        : undefined,
      isUnrestricted ? isDeletionListed : undefined,
    );
    return selectEvents(db, p, { stream: users, column: events.ownerId, id: p.userId }, isListed);
  },
);

/** Whether the credential reaches less than the caller's own account. */
const isNarrowed = ({ actor }: Ctx): boolean =>
  seesPublicOnly(actor) || boundTokenId(actor) !== undefined;

/**
 * Events of keys, webhooks, mirrors, blocks, collaborators, offered transfers and of the
 * repositories of teams are listed for administrators only.
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
/** The deletion is the only event that is listed of a deleted repository. */
const isDeletionListed = sql`(
  ${repositories.id} is null and ${events.type} = 'repository.deleted'
)`;

/** The condition for an event of a repository that the caller may currently see. */
const isRepositoryEventListed = (reader: Params<EventReader>, administers: boolean): SQL =>
  allOf(
    sql`${repositories.id} is not null`,
    isEventVisible(reader),
    administers ? undefined : sql`not ${isAdministrative}`,
  );

/** A stream: a repository or an account, and the column of events by which it has them. */
interface Stream {
  readonly stream: typeof repositories | typeof users;
  readonly column: typeof events.repoId | typeof events.ownerId;
  readonly id: Params<{ id: number }>["id"];
}

/** The reader and the page of a stream, as arguments of its queries. */
interface EventPage extends Cursor {
  readonly reader: EventReader;
}

const toPage = ({ actor }: Ctx, { after, size }: Cursor): EventPage => ({
  reader: eventReaderOf(actor),
  after,
  size,
});

/**
 * Selects a page of a stream, in the order of the events' ids, and the last id that was examined.
 *
 * A cursor skips no event that becomes visible later. D1 has a single writer: an id is assigned
 * within the transaction that writes the row, and the next transaction starts after that one is
 * stored, so a reader that sees an event sees all events with smaller ids. A lagging replica
 * returns a shorter stream, never one with gaps.
 *
 * Cost: one round trip; at most `EXAMINED_MAX` rows of the index.
 */
function selectEvents(
  db: Database,
  { reader, after, size }: Params<EventPage>,
  { stream, column, id }: Stream,
  isListed: SQL,
) {
  const repoOwners = alias(users, "repo_owners");
  const examined = db
    .select({ id: sql<number>`${events.id}`.as("examined_id") })
    .from(events)
    .where(and(eq(column, id), gt(events.id, after)))
    .orderBy(events.id)
    .limit(EXAMINED_MAX)
    .as("examined");
  return {
    rows: db
      .select({
        event: columnsOf(events, "e"),
        actor: columnsOf(users, "u"),
        isActorShown: flagColumn(isActorShown(reader.principal), "is_actor_shown"),
        repoId: sql<number | null>`${repositories.id}`.as("listed_repo_id"),
        repoName: sql<string>`${repositories.name}`.as("listed_repo_name"),
        repoOwner: sql<string>`${repoOwners.name}`.as("listed_repo_owner"),
      })
      .from(events)
      .innerJoin(examined, eq(examined.id, events.id))
      .leftJoin(repositories, eq(repositories.id, events.repoId))
      .leftJoin(repoOwners, eq(repoOwners.id, repositories.ownerId))
      .leftJoin(users, eq(users.id, events.actorId))
      .where(isListed)
      .orderBy(asc(events.id))
      .limit(size),
    ends: db.select({ id: sql<number | null>`max(${examined.id})`.as("last_id") }).from(examined),
    streams: db.select({ sweptId: stream.sweptEventId }).from(stream).where(eq(stream.id, id)),
  };
}

/**
 * The page of the rows of `selectEvents`.
 *
 * @throws Failure `gone` for a cursor of before an event that is not kept any longer: the reader
 * would miss it without a sign.
 */
function toSlice(
  { after, size }: Cursor,
  { rows, ends: [last], streams: [found] }: Results<ReturnType<typeof selectEvents>>,
): EventSlice {
  if (after > 0 && found && after < found.sweptId) {
    throw gone(
      `events after ${after} are not kept any longer: read the present state, then continue after ${found.sweptId}`,
    );
  }
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
