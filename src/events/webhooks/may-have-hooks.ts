import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { hooks } from "../../db/schema/index.ts";

/** The columns of an event that decide whether hooks may receive it. */
interface EventOwners {
  readonly type: SQL;
  readonly repoId: SQL;
  readonly ownerId: SQL;
}

const hook = alias(hooks, "receiver");

/**
 * The condition that some hook may receive an event. False only where there is none: neither of its
 * repository, nor of its owner, nor of the service.
 *
 * A fork also triggers the hooks of its source, and of the source's owner.
 */
export function mayHaveHooks({ type, repoId, ownerId }: EventOwners): SQL {
  const hasHook = (isOne: SQL): SQL => sql`exists (
    select 1 from ${hooks} ${hook} where ${isOne} and ${hook.isActive} and ${hook.pausedAt} is null
  )`;
  return sql`(
    ${type} = 'repository.forked'
    or ${hasHook(sql`${hook.repoId} = ${repoId}`)}
    or ${hasHook(sql`${hook.ownerId} = ${ownerId}`)}
    or ${hasHook(sql`${hook.level} = 'system'`)}
  )`;
}

/** Kinds of events that keep the payload of what was deleted until they are dispatched. */
export const DELETION_KINDS: ReadonlySet<string> = new Set([
  "repository.deleted",
  "issue.deleted",
  "comment.deleted",
  "release.deleted",
]);

/** Kinds that are always dispatched. The batch of the last one may add hooks after it. */
const DISPATCHED = sql.raw(`('${[...DELETION_KINDS, "repository.created"].join("', '")}')`);

/**
 * When a new event is due to be dispatched: mostly never, if no hook may receive it, since hooks
 * receive no events of before their creation.
 *
 * @param at When it is due otherwise, in milliseconds; null if it has no webhook events.
 */
export const dispatchAtOf = (event: EventOwners, at: SQL): SQL => sql`iif(
  ${at} is not null
    and (${event.type} in ${DISPATCHED} or ${mayHaveHooks(event)}),
  ${at},
  null
)`;
