import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { insertAdministrator } from "../../../auth/access/memberships.ts";
import type { Ctx } from "../../../context.ts";
import { type BoundRow, boundRow } from "../../../db/bound-row.ts";
import { allOf, type Database, isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { newRepositoryId, type NewRepositoryRef } from "../../../db/new-repository-id.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  OWNER_PERMISSION,
  type ProjectPart,
  repositories,
  repositoryRedirects,
  watches,
  type User,
  type Visibility,
} from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, recordBy } from "../../../events/record.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import {
  auditArgument,
  type AuditArgument,
  recordAuditBy,
} from "../../people/audit/record-audit.ts";
import { requireRoom } from "../../people/quotas/owner-quota.ts";
import { copyDefaultHooks } from "./copy-default-hooks.ts";
import { DEFAULT_ISSUE_SETTINGS, DEFAULT_PULL_SETTINGS } from "./default-settings.ts";
import { forkedColumns, forkParent, type ForkParent } from "./forked-columns.ts";
import { isBelowLimit, limitReached, repositoryLimit } from "./repository-limit.ts";

/** The owner and the creator of a new repository. */
export interface CreationContext {
  owner: User;
  /** The user who creates it; may differ from the owner. */
  creator: User;
  /** Whether the creator already owns all of the owner's repositories. */
  ownsOwner: boolean;
  /**
   * Whether the maximum number of repositories does not apply, as for what an administrator creates
   * for a user.
   */
  isUnlimited?: boolean;
}

type Inserted = typeof repositories.$inferInsert;

/** Columns that differ from one new repository to the next. */
type NewColumns = Pick<Inserted, "name" | "defaultBranch" | "description"> &
  Required<Pick<Inserted, "objectName" | "networkName" | "isPrivate">> &
  Partial<
    Pick<
      Inserted,
      | "isTemplate"
      | "isMirror"
      | "origin"
      | "trustModel"
      | "isEmpty"
      | "sizeBytes"
      | "lfsSizeBytes"
      | "expiry"
      | "hasIssues"
      | "hasPullRequests"
      | "hasWiki"
      | "hasReleases"
      | "hasProjects"
      | "hasPackages"
      | "hasActions"
    >
  >;

/**
 * The units of a new mirror. As in Gitea, nobody opens pull requests in one: it has those that it
 * keeps in step.
 */
export const unitsOfMirror = (parts: readonly ProjectPart[]) => ({
  hasPullRequests: parts.includes("pulls"),
  hasActions: false,
});

/** The units of a repository that comes from an export. */
export const unitsOfProject = ({
  tracksIssues,
  takesPulls,
}: {
  readonly tracksIssues: boolean;
  readonly takesPulls: boolean;
}) => ({ hasIssues: tracksIssues, hasPullRequests: takesPulls });

/** The parts of a new repository besides its columns. */
interface Beginnings {
  /**
   * The repository of which it is a fork. Who sees the fork is then read of it, whatever
   * `isPrivate` is.
   */
  readonly parent?: RepositoryContext;
  /** The repository whose packs it shares without being a fork of it. */
  readonly packSourceId?: number;
  /** Builds further statements of the batch. */
  readonly toMore?: (repo: NewRepositoryRef) => BatchItem<"sqlite">[];
}

/**
 * Writes a new repository in one batch: its row, its event, copies of the default hooks, a watch
 * for the creator and, in an organization that the creator does not own, the creator's role as an
 * administrator.
 *
 * @param columns The columns that differ between new repositories.
 * @throws Failure `conflict` for a name that is taken, `forbidden` if the owner has the maximum
 * number of repositories, `too_large` if they store as much as they may, `not_found` if the
 * repository whose packs it shares does not exist.
 */
export async function insertRepository(
  ctx: Ctx,
  creation: CreationContext,
  columns: NewColumns,
  { parent, packSourceId, toMore = () => [] }: Beginnings = {},
): Promise<RepositoryContext> {
  const { owner } = creation;
  const ref = { ownerId: owner.id, lowerName: columns.name.toLowerCase() };
  // Of what it shares, too.
  await requireRoom(ctx, owner, columns.sizeBytes ?? 0);
  try {
    const [created] = await ctx.db.batch([
      ...insertionOf(ctx, creation, { ref, columns, parent, packSourceId }),
      copyDefaultHooks(ctx, ref),
      ...toMore(ref),
    ]);
    const repo = only(created);
    // The row was returned before the triggers counted its first watcher.
    const watcherCount = ctx.config.isAutoWatchOn ? 1 : 0;
    return { row: { ...repo, watcherCount }, owner, permission: OWNER_PERMISSION };
  } catch (error) {
    if (isViolation(error, "UNIQUE", "repositories.lower_name")) {
      throw conflict("The repository with the same name already exists.");
    }
    // The repository whose packs it shares was deleted meanwhile.
    if (isViolation(error, "NOT NULL", "repositories.network_name")) throw notFound();
    if (isViolation(error, "NOT NULL", "repositories.owner_id")) {
      throw limitReached(ctx, owner);
    }
    throw error;
  }
}

interface Insertion {
  readonly ref: NewRepositoryRef;
  readonly columns: NewColumns;
  readonly parent: RepositoryContext | undefined;
  readonly packSourceId: number | undefined;
}

/** The statements that every new repository has. */
function insertionOf(
  ctx: Ctx,
  { owner, creator, ownsOwner, isUnlimited = false }: CreationContext,
  { ref, columns, parent, packSourceId }: Insertion,
) {
  const limit = isUnlimited ? -1 : repositoryLimit(ctx, owner);
  const event = parent
    ? ({ type: "repository.forked", parentId: parent.row.id } as const)
    : ({ type: "repository.created", name: columns.name } as const);
  const entry = { kind: "repository.created", ownerId: owner.id, repoId: COMPUTED } as const;
  return insertNew(ctx.db, {
    row: boundRow(repositories, {
      // As in Gitea, a template's own actions do not run; those of repositories generated from it
      // do.
      hasActions: !(columns.isTemplate ?? false),
      ...columns,
      isFork: parent !== undefined,
    }),
    ref,
    owner: { lowerName: owner.lowerName, visibility: owner.visibility },
    parent: parent && forkParent(parent, creator),
    packSourceId,
    limit: limit < 0 ? undefined : limit,
    creatorId: creator.id,
    isWatched: ctx.config.isAutoWatchOn,
    isAdministrator: !ownsOwner,
    event: eventArgument(ctx, { ...event, repoId: COMPUTED, ownerId: owner.id }),
    entry: auditArgument(ctx, entry),
    now: ctx.now,
  });
}

/** A new repository as an argument of a prepared query. */
interface NewRepositoryArgument {
  readonly row: BoundRow<NewColumns>;
  readonly ref: NewRepositoryRef;
  readonly owner: { readonly lowerName: string; readonly visibility: Visibility };
  readonly parent: ForkParent | undefined;
  readonly packSourceId: number | undefined;
  /** How many repositories the owner may have; undefined for any number. */
  readonly limit: number | undefined;
  readonly creatorId: number;
  readonly isWatched: boolean;
  readonly isAdministrator: boolean;
  readonly event: EventArgument;
  readonly entry: AuditArgument;
  readonly now: number;
}

const insertNew = prepareAll((db, p: Params<NewRepositoryArgument>) => {
  const { ref, creatorId, now } = p;
  const { ownerId, lowerName } = ref;
  const isThis = allOf(eq(repositories.ownerId, ownerId), eq(repositories.lowerName, lowerName));
  const repoId = newRepositoryId(ref);
  const { id, visibility } = repositories;
  return [
    insertRow(db, p),
    recordBy(db, p.event, { repoId }),
    recordAuditBy(db, p.entry, { repoId }),
    // A new repository replaces a redirect of the same name.
    db
      .delete(repositoryRedirects)
      .where(
        and(eq(repositoryRedirects.ownerId, ownerId), eq(repositoryRedirects.lowerName, lowerName)),
      ),
    ...(p.isWatched
      ? [
          insertSelect(
            db,
            watches,
            { userId: creatorId, repoId: id, visibility, createdAt: now },
            sql`from ${repositories} where ${isThis}`,
          ),
        ]
      : []),
    ...(p.isAdministrator ? [insertAdministrator(db, isThis, creatorId)] : []),
  ];
});

function insertRow(
  db: Database,
  { row, ref, owner, parent, packSourceId, limit, now }: Params<NewRepositoryArgument>,
) {
  const { ownerId, lowerName } = ref;
  const { isPrivate, ...ofParent } = parent ? forkedColumns(parent, ref.ownerId) : row;
  return db
    .insert(repositories)
    .values({
      ...row,
      ...ofParent,
      isPrivate,
      // SECURITY: a deleted repository gives its packs to those alone that exist by then.
      ...(packSourceId && {
        networkName: onlyWhile(
          sql`exists (select 1 from ${repositories} where id = ${packSourceId})`,
          sql`${row.networkName}`,
        ),
      }),
      ownerId: limit ? onlyWhile(isBelowLimit(ownerId, limit), ownerId) : ownerId,
      // The values that the triggers would set: with them in the insert, the row is indexed only
      // once.
      ownerLowerName: owner.lowerName,
      visibility: sql`case when ${isPrivate} then 'private' else ${owner.visibility} end`,
      lowerName,
      pullSettings: DEFAULT_PULL_SETTINGS,
      issueSettings: DEFAULT_ISSUE_SETTINGS,
      createdAt: now,
      updatedAt: now,
    })
    .returning();
}
