import { type Principal, principalOf } from "../../../auth/principal.ts";
import { sql, type SQL } from "drizzle-orm";

import {
  isRepositoryVisibleWith,
  type UnitNeed,
} from "../../../auth/access/visible-repositories.ts";
import type { Actor } from "../../../auth/actor.ts";
import { hasScope } from "../../../auth/scope.ts";
import { allOf } from "../../../db/db.ts";
import type { Params } from "../../../db/prepared.ts";
import { events, packages, repositories } from "../../../db/schema/index.ts";

const isOfCode = sql`${events.type} in (
  'repository.pushed', 'commit_status.created', 'lfs_lock.created', 'lfs_lock.deleted'
)`;
const isOfRelease = sql`${events.type} glob 'release.*'`;
const isOfWiki = sql`${events.type} glob 'wiki.*'`;
const isOfPackage = sql`${events.type} glob 'package.*'`;
const isOfIssueOrPull = sql`(${events.type} glob 'issue.*' or ${events.type} glob 'comment.*')`;
const isOfPull = sql`(
  ${isOfIssueOrPull} and ${events.payload} ->> '$.isPull' = 1
  or ${events.type} glob 'pull.*'
  or ${events.type} glob 'review.*'
  or ${events.type} glob 'conversation.*'
)`;

/** The unit that events belong to; other events belong to the repository itself. */
const UNITS_OF_EVENTS: readonly UnitNeed[] = [
  { unit: "code", isNeeded: isOfCode },
  { unit: "releases", isNeeded: isOfRelease },
  { unit: "wiki", isNeeded: isOfWiki },
  { unit: "actions", isNeeded: sql`${events.type} glob 'workflow_*'` },
  { unit: "pulls", isNeeded: isOfPull },
  { unit: "issues", isNeeded: isOfIssueOrPull },
];

/** The reader of events, as an argument of a query: the caller and the scopes of the credential. */
export interface EventReader {
  readonly principal: Principal;
  readonly repositories: boolean;
  readonly issues: boolean;
  readonly packages: boolean;
}

/** A reader in a condition: its values, or the parameters of a prepared query. */
export type EventReaderSql = EventReader | Params<EventReader>;

export const eventReaderOf = (actor: Actor): EventReader => ({
  principal: principalOf(actor),
  repositories: hasScope(actor.scopes, "read:repository"),
  issues: hasScope(actor.scopes, "read:issue"),
  packages: hasScope(actor.scopes, "read:package"),
});

/** The condition that the repository of an event is public, and was when the event was recorded. */
export const isEventPublic = sql`(
  'public' = ${repositories.visibility} and 'public' = ${events.visibility}
)`;

/**
 * The condition for an event of a repository that the caller may currently see, on the rows of
 * `events` joined with `repositories`.
 *
 * SECURITY: access is checked when the event is read: a caller that lost access to the repository
 * or to the event's unit no longer sees earlier events. The visibility that the repository had when
 * the event was recorded counts as well. A token without a scope for issues sees issues of public
 * repositories only, and packages likewise.
 */
export const isEventVisible = ({ principal, ...reads }: EventReaderSql): SQL =>
  allOf(
    reads.issues ? undefined : sql`(not ${isOfIssueOrPull} or ${isEventPublic})`,
    reads.packages ? undefined : sql`(not ${isOfPackage} or ${isEventPublic})`,
    isRepositoryVisibleWith(principal, UNITS_OF_EVENTS, events),
  );

/**
 * The condition for an event of an account and no repository that the caller may see among the
 * others of the account.
 *
 * SECURITY: packages need their scope. Events of a package whose private repository is deleted are
 * visible to writers of the account's packages only, like the package itself.
 */
export const isAccountEventVisible = (
  { packages: readsPackages }: Pick<EventReaderSql, "packages">,
  { ownsAll }: { ownsAll: boolean },
): SQL => {
  if (!readsPackages) return sql`not ${isOfPackage}`;
  if (ownsAll) return sql`1`;
  return sql`not (${isOfPackage} and exists (
    select 1
    from ${packages}
    where ${packages.id} = ${events.payload} ->> '$.packageId' and ${packages.isRestricted}
  ))`;
};
