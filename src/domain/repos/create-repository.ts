import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { isViolation, onlyWhile } from "../../db/db.ts";
import {
  ACCESS,
  collaborations,
  repositories,
  repositoryRedirects,
  watches,
  type User,
} from "../../db/schema/index.ts";
import { record } from "../../events/record.ts";
import { boundTokenId } from "../../auth/actor.ts";
import { conflict, forbidden } from "../../lib/failure.ts";
import { only } from "../../lib/only.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { writeFirstCommit } from "../git/write-first-commit.ts";
import { checkBranchName } from "./branch-name.ts";
import { DEFAULT_ISSUE_SETTINGS, DEFAULT_PULL_SETTINGS } from "./default-settings.ts";
import { deleteRepository } from "./delete-repository.ts";
import { type FirstContent, makeFirstFiles } from "./first-files.ts";
import { checkRepositoryName } from "./repository-name.ts";

/** What a client may choose of a new repository. */
export interface NewRepository extends FirstContent {
  name: string;
  description?: string | undefined;
  private?: boolean | undefined;
  template?: boolean | undefined;
  default_branch?: string | undefined;
  trust_model?: string | undefined;
  /** Whether it begins with a commit; if not, what the commit would hold is ignored. */
  auto_init?: boolean | undefined;
}

/**
 * Creates a repository for `owner`, watched by its creator: empty, or with a first commit.
 *
 * Everything is judged before anything is written. If the commit then can't be stored, the
 * repository is deleted again, so that the name is free for another try.
 *
 * The creator gets what they need to use it: in an organization where they own nothing, the role of
 * an administrator of this one repository.
 *
 * @param creator   Who creates it; may differ from the owner.
 * @param ownsOwner Whether the creator owns all of the owner's repositories anyway.
 * @throws Failure `invalid` for a name that can't be and, with a first commit, for an unknown
 * template (`malformed` if of a readme), `conflict` for one that is taken,
 * `forbidden` beyond the number of repositories the owner may have.
 */
export async function createRepository(
  ctx: Ctx,
  owner: User,
  creator: User,
  ownsOwner: boolean,
  wanted: NewRepository,
): Promise<RepositoryEntry> {
  checkRepositoryName(wanted.name);
  const defaultBranch = wanted.default_branch || ctx.config.defaultBranch;
  checkBranchName(defaultBranch, "DefaultBranch");
  const isPrivate = wanted.private ?? false;
  if (boundTokenId(ctx.actor) !== undefined) {
    throw forbidden("the token is bound to repositories that exist: it can't create one");
  }
  if (ctx.actor.scopes.isPublicOnly && (isPrivate || owner.visibility !== "public")) {
    throw forbidden("token scope is limited to public repos");
  }

  const files = wanted.auto_init ? await makeFirstFiles(ctx, owner, wanted, wanted) : undefined;
  const entry = await insertRepository(ctx, owner, creator, ownsOwner, {
    ...wanted,
    defaultBranch,
    isPrivate,
  });
  if (!files) return entry;
  try {
    return await writeFirstCommit(ctx, entry, creator, files);
  } catch (error) {
    await deleteRepository(ctx, entry);
    throw error;
  }
}

async function insertRepository(
  ctx: Ctx,
  owner: User,
  creator: User,
  ownsOwner: boolean,
  wanted: NewRepository & { defaultBranch: string; isPrivate: boolean },
): Promise<RepositoryEntry> {
  const { db, now } = ctx;
  const { defaultBranch, isPrivate } = wanted;
  const lowerName = wanted.name.toLowerCase();
  const isThis = and(eq(repositories.ownerId, owner.id), eq(repositories.lowerName, lowerName));
  const newId = sql<number>`(select ${repositories.id} from ${repositories} where ${isThis})`;

  const insert = db
    .insert(repositories)
    .values({
      ownerId: withinLimit(ctx, owner),
      // What the triggers would put there: given at once, the row is indexed once.
      ownerLowerName: owner.lowerName,
      visibility: isPrivate ? "private" : owner.visibility,
      name: wanted.name,
      lowerName,
      description: wanted.description ?? "",
      isPrivate,
      isTemplate: wanted.template ?? false,
      defaultBranch,
      trustModel: wanted.trust_model || "default",
      pullSettings: DEFAULT_PULL_SETTINGS,
      issueSettings: DEFAULT_ISSUE_SETTINGS,
      createdAt: now,
      updatedAt: now,
    })
    .returning();
  const watch = db
    .insert(watches)
    .select(
      sql`select ${creator.id}, id, visibility, ${now} from ${repositories} where ${isThis} and ${ctx.config.isAutoWatchOn}`,
    );
  const collaborate = db
    .insert(collaborations)
    .select(
      sql`select id, ${creator.id}, ${ACCESS.admin} from ${repositories} where ${isThis} and ${!ownsOwner}`,
    );
  try {
    const [created] = await db.batch([
      insert,
      record(ctx, {
        type: "repository.created",
        repoId: newId,
        ownerId: owner.id,
        name: wanted.name,
      }),
      watch,
      collaborate,
      // Whoever takes a name takes it from the redirect that held it.
      db
        .delete(repositoryRedirects)
        .where(
          and(
            eq(repositoryRedirects.ownerId, owner.id),
            eq(repositoryRedirects.lowerName, lowerName),
          ),
        ),
    ]);
    const repo = only(created);
    // The row was returned before the triggers counted its first watcher.
    const watcherCount = ctx.config.isAutoWatchOn ? 1 : 0;
    return { repo: { ...repo, watcherCount }, owner, access: ACCESS.owner };
  } catch (error) {
    if (isViolation(error, "UNIQUE", "repositories.owner_id")) {
      throw conflict("The repository with the same name already exists.");
    }
    if (isViolation(error, "NOT NULL", "repositories.owner_id")) {
      throw forbidden(
        `user has reached maximum limit of repositories [limit: ${repositoryLimit(ctx, owner)}]`,
      );
    }
    throw error;
  }
}

const repositoryLimit = (ctx: Ctx, owner: User): number =>
  owner.repoCountMax >= 0 ? owner.repoCountMax : ctx.config.repoCountMax;

/** The owner's id, while they may have another repository: two requests at once can't both be the last one allowed. */
function withinLimit(ctx: Ctx, owner: User) {
  const limit = repositoryLimit(ctx, owner);
  if (limit < 0) return owner.id;
  const owned = sql`(select count(*) from ${repositories} where owner_id = ${owner.id})`;
  return onlyWhile(sql`${owned} < ${limit}`, owner.id);
}
