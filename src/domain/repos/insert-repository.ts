import { and, eq, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { insertAdministrator } from "../../auth/access/memberships.ts";
import type { Ctx } from "../../context.ts";
import { allOf, isViolation, onlyWhile } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  OWNER_PERMISSION,
  type ProjectPart,
  repositories,
  type Repository,
  repositoryRedirects,
  watches,
  type User,
} from "../../db/schema/index.ts";
import type { record } from "../../events/record.ts";
import { conflict, moving } from "../../lib/failure.ts";
import { only } from "../../lib/only.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { relayNow } from "../events/relay-events.ts";
import { chooseShard } from "../shards/choose-shard.ts";
import { copyNow } from "../shards/copy-now.ts";
import { inDatabase } from "../shards/in-database.ts";
import { copyDefaultHooks } from "./copy-default-hooks.ts";
import { DEFAULT_ISSUE_SETTINGS, DEFAULT_PULL_SETTINGS } from "./default-settings.ts";
import { limitReached, withinLimit } from "./repository-limit.ts";

/** The owner and the creator of a new repository. */
export interface CreationContext {
  owner: User;
  /** The user who creates it; may differ from the owner. */
  creator: User;
  /** Whether the creator already owns all of the owner's repositories. */
  ownsOwner: boolean;
  /** Whether the maximum number of repositories does not apply, as for what an administrator creates for a user. */
  isUnlimited?: boolean;
}

type Inserted = typeof repositories.$inferInsert;

/** Columns that differ from one new repository to the next. */
type NewColumns = Pick<Inserted, "name" | "defaultBranch" | "description"> &
  Required<Pick<Inserted, "objectName" | "networkName">> &
  Partial<
    Pick<
      Inserted,
      | "isTemplate"
      | "isMirror"
      | "origin"
      | "trustModel"
      | "parentId"
      | "shard"
      | "isFork"
      | "isEmpty"
      | "sizeBytes"
      | "hasIssues"
      | "hasPullRequests"
      | "hasWiki"
      | "hasReleases"
      | "hasProjects"
      | "hasPackages"
      | "hasActions"
    >
  > & { isPrivate: boolean | SQL<boolean>; lfsSizeBytes?: SQL<number> };

/** The units of a new mirror. As in Gitea, nobody opens pull requests in one: it has those that it keeps in step. */
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

/** Builds statements about a new repository, from a context whose database has its own data and the SQL of its id. */
type ToOwn = (own: Ctx, repoId: SQL<number>) => BatchItem<"sqlite">[];

/**
 * Writes a new repository in one batch: its row, its event, copies of the default hooks, a watch for the
 * creator and, in an organization that the creator does not own, the creator's role as an administrator.
 *
 * Where its own data is in a shard, that follows in a batch there. If that fails, the repository is deleted again.
 *
 * @param columns The columns that differ between new repositories. Without a shard one is chosen.
 * @param toEvent Builds the event from the SQL of the repository's id.
 * @param toOwn Builds further statements of its own data.
 * @param toMore Builds further statements of the first database from the SQL of the repository's id.
 * @throws Failure `conflict` for a name that is taken, `forbidden` if the owner has the maximum number of
 * repositories.
 */
export async function insertRepository(
  ctx: Ctx,
  { owner, creator, ownsOwner, isUnlimited = false }: CreationContext,
  columns: NewColumns,
  toEvent: (repoId: SQL<number>) => ReturnType<typeof record>,
  toOwn: ToOwn = () => [],
  toMore: (repoId: SQL<number>) => BatchItem<"sqlite">[] = () => [],
): Promise<RepositoryContext> {
  const { directory: db, now } = ctx;
  const shard = columns.shard ?? (await chooseShard(ctx));
  const toAllOwn: ToOwn = (own, repoId) => [copyDefaultHooks(own, repoId), ...toOwn(own, repoId)];
  const lowerName = columns.name.toLowerCase();
  const isThis = and(eq(repositories.ownerId, owner.id), eq(repositories.lowerName, lowerName));
  const newId = sql<number>`(select ${repositories.id} from ${repositories} where ${isThis})`;
  const { isPrivate, parentId } = columns;
  // A fork is where its parent is, which may move meanwhile.
  const isWithParent = sql`${shard} = (
    select p.shard from ${repositories} p where p.id = ${parentId}
  )`;
  const isFixed = parentId == null || ctx.openShards().size === 0;

  const insert = db
    .insert(repositories)
    .values({
      // As in Gitea, a template's own actions do not run; those of repositories generated from it do.
      hasActions: !(columns.isTemplate ?? false),
      ...columns,
      shard: isFixed ? shard : onlyWhile(isWithParent, shard),
      ownerId: isUnlimited ? owner.id : withinLimit(ctx, owner),
      // The values that the triggers would set: with them in the insert, the row is indexed only once.
      ownerLowerName: owner.lowerName,
      visibility: sql`case when ${isPrivate} then 'private' else ${owner.visibility} end`,
      lowerName,
      pullSettings: DEFAULT_PULL_SETTINGS,
      issueSettings: DEFAULT_ISSUE_SETTINGS,
      createdAt: now,
      updatedAt: now,
    })
    .returning();
  const { id: repoId, visibility } = repositories;
  const watch = insertSelect(
    db,
    watches,
    { userId: creator.id, repoId, visibility, createdAt: now },
    sql`from ${repositories} where ${isThis} and ${ctx.config.isAutoWatchOn}`,
  );
  const collaborate = insertAdministrator(db, allOf(isThis, sql`${!ownsOwner}`), creator.id);
  try {
    const [created] = await db.batch([
      insert,
      toEvent(newId),
      recordAudit(ctx, { kind: "repository.created", ownerId: owner.id, repoId: newId }),
      watch,
      collaborate,
      // A new repository replaces a redirect of the same name.
      db
        .delete(repositoryRedirects)
        .where(
          and(
            eq(repositoryRedirects.ownerId, owner.id),
            eq(repositoryRedirects.lowerName, lowerName),
          ),
        ),
      ...(shard === 0 ? toAllOwn(inDatabase(ctx, 0), newId) : []),
      ...toMore(newId),
    ]);
    const repo = only(created);
    if (shard !== 0) await insertOwn(ctx, repo, toAllOwn);
    // The row was returned before the triggers counted its first watcher.
    const watcherCount = ctx.config.isAutoWatchOn ? 1 : 0;
    return { row: { ...repo, watcherCount }, owner, permission: OWNER_PERMISSION };
  } catch (error) {
    if (isViolation(error, "UNIQUE", "repositories.lower_name")) {
      throw conflict("The repository with the same name already exists.");
    }
    if (isViolation(error, "NOT NULL", "repositories.shard")) throw moving();
    if (isViolation(error, "NOT NULL", "repositories.owner_id")) {
      throw limitReached(ctx, owner);
    }
    throw error;
  }
}

/** Writes the first own data of a new repository to its shard, after the copy of its row. */
async function insertOwn(ctx: Ctx, repo: Repository, toOwn: ToOwn): Promise<void> {
  const { directory } = ctx;
  const own = inDatabase(ctx, repo.shard);
  try {
    // A feed shows the creation before the first push, and so do the repository's events.
    await Promise.all([copyNow(directory, ctx, [repo.shard]), relayNow(ctx, repo.shard)]);
    const [first, ...rest] = toOwn(own, sql<number>`${repo.id}`);
    if (first) await own.db.batch([first, ...rest]);
  } catch (error) {
    await directory.delete(repositories).where(eq(repositories.id, repo.id));
    throw error;
  }
}
