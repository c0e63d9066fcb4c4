import { type Column, eq, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isVisibleTo } from "../../../auth/access/grants.ts";
import { ANONYMOUS } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { allOf } from "../../../db/db.ts";
import { COMPUTED, withFields } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { repositories, stars, users, watches } from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, recordBy } from "../../../events/record.ts";
import { auditArgument, type AuditArgument, recordAuditBy } from "../audit/record-audit.ts";

/**
 * The condition that a fork is private: its parent is, by itself or by its owner, or the fork's
 * owner is visible to people who may not see the parent.
 *
 * SECURITY: a fork has its parent's objects. A setting of its own could publish them.
 */
export const isForkPrivate = (
  parentVisibility: SQL | Column,
  ownerVisibility: SQL | Column,
): SQL<boolean> =>
  sql<boolean>`case ${parentVisibility}
    when 'private' then 1
    when 'limited' then ${ownerVisibility} = 'public'
    else 0
  end`;

/** The repository whose visibility has changed, or the owner of several. */
type Changed = { readonly repoId: number } | { readonly ownerId: number };

/**
 * The statements that make forks as visible as `isForkPrivate` requires, after the visibility of
 * some repositories or of their owner has changed: these repositories where they are forks, their
 * forks, the forks of those, and so on. Each fork that changes has the event and the entry of the
 * audit log that an edit of it would have, the latter as a change by the service. Users who may not
 * see a repository any more lose their star and watch of it.
 *
 * Belongs into the batch of the change, so that no fork is shown any longer than its parent.
 *
 * Cost: a few statements that walk the forks below, by an index. Where nothing is to be changed
 * they change nothing.
 */
export function forksFollow(ctx: Ctx, changed: Changed) {
  const fork = { repoId: COMPUTED, ownerId: COMPUTED };
  const details = { isPrivate: COMPUTED };
  const event = { type: "repository.visibility_changed", ...fork, ...details } as const;
  const entry = { kind: "repository.visibility_changed", ...fork, details } as const;
  // SECURITY: the caller, who may not see the forks, would find their names in the log of own acts,
  // and the forks' owners would read where the caller was.
  const system: Ctx = {
    ...ctx,
    actor: { ...ANONYMOUS, credential: "system" },
    client: { ...ctx.client, address: undefined },
  };
  return followStatements(ctx.db, {
    ...changed,
    event: eventArgument(ctx, event),
    entry: auditArgument(system, entry),
  });
}

interface Following {
  readonly repoId?: number;
  readonly ownerId?: number;
  readonly event: EventArgument;
  readonly entry: AuditArgument;
}

const followStatements = prepareAll((db, { repoId, ownerId, event, entry }: Params<Following>) => {
  const isChanged = allOf(
    repoId && eq(repositories.id, repoId),
    ownerId && eq(repositories.ownerId, ownerId),
  );
  const changed = changedForks(isChanged);
  const fork = { repoId: sql`changed.id`, ownerId: sql`changed.owner_id` };
  const isPrivate = sql`json(iif(changed.is_private, 'true', 'false'))`;
  const each = sql`from ${changed} changed where true`;
  const visibility = { visibility: sql`changed.visibility`, isPrivate: sql`changed.is_private` };
  return [
    // Before the update, which leaves no trace of what it has changed.
    recordBy(db, event, { ...fork, isPrivate }, each, visibility),
    recordAuditBy(db, entry, { ...fork, details: withFields(entry.details, { isPrivate }) }, each),
    db
      .update(repositories)
      .set({ isPrivate: sql`not ${repositories.isPrivate}` })
      .where(sql`${repositories.id} in (select id from ${changed})`),
    db.delete(stars).where(isOutside(stars, isChanged)),
    db.delete(watches).where(isOutside(watches, isChanged)),
  ];
});

/**
 * The condition for a star or watch, below the repositories that have changed, of a user who may
 * not see the repository.
 */
const isOutside = ({ repoId, userId }: typeof stars | typeof watches, isChanged: SQL): SQL => sql`
  ${repoId} in (
    select below.id
    from ${networkBelow(isChanged)} below
    join ${repositories} on ${repositories.id} = below.id
    where ${repositories.visibility} <> 'public'
  )
  and not exists (
    select 1
    from ${repositories}
    where ${repositories.id} = ${repoId} and ${isVisibleTo(sql`${userId}`)}
  )`;

const parents = alias(repositories, "parent");
const forks = alias(repositories, "fork");
const owners = alias(users, "owner");

/** Selects the forks whose visibility is about to change, as they are then. */
const changedForks = (isChanged: SQL): SQL => sql`(
  select ${forks.id}, ${forks.ownerId}, below.is_private,
    ${visibilityOf(sql`below`)} as visibility
  from ${networkBelow(isChanged)} below
  join ${repositories} ${forks} on ${forks.id} = below.id
  where ${forks.isPrivate} <> below.is_private
)`;

/**
 * Selects repositories and all forks below them, with whether they are to be private, and with
 * their owners' visibility.
 *
 * A repository may be below another of those that have changed: the longest way to it passes all
 * parents that change. A fork is newer than its parent, so that no way ends where it began.
 * Drizzle can't write a query that is recursive.
 */
const networkBelow = (isChanged: SQL): SQL => sql`(
  with recursive
    network (id, is_private, owner_visibility, depth) as (
      select ${repositories.id},
        coalesce(
          (
            select ${isForkPrivate(parents.visibility, owners.visibility)}
            from ${repositories} ${parents}
            where ${parents.id} = ${repositories.parentId}
          ),
          ${repositories.isPrivate}
        ),
        ${owners.visibility},
        0
      from ${repositories}
      join ${users} ${owners} on ${owners.id} = ${repositories.ownerId}
      where ${isChanged}
      union all
      select ${forks.id},
        ${isForkPrivate(visibilityOf(sql`network`), owners.visibility)},
        ${owners.visibility},
        network.depth + 1
      from network
      join ${repositories} ${forks} on ${forks.parentId} = network.id
      join ${users} ${owners} on ${owners.id} = ${forks.ownerId}
    )
  select id, is_private, owner_visibility, max(depth)
  from network
  group by id
)`;

/** The visibility of a row of `networkBelow`. */
const visibilityOf = (row: SQL): SQL =>
  sql`iif(${row}.is_private, 'private', ${row}.owner_visibility)`;
