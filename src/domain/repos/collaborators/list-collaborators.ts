import { asc, eq, sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { selectCollaboratorPage } from "../../../auth/access/collaborators.ts";
import { eligibleUserIds } from "../../../auth/access/people.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, columnsOf } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { type Access, type Repository, users, type User } from "../../../db/schema/index.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** A collaborator of a repository. */
export interface Collaborator {
  readonly user: User;
  readonly access: Access;
}

/** Lists the collaborators of a repository that the caller may know, oldest first. */
export async function listCollaborators(
  ctx: Ctx,
  repo: RepositoryContext,
  { size, offset }: Slice,
): Promise<Listed<Collaborator>> {
  const list = { repoId: repo.row.id, reader: readerOf(ctx, repo), size, offset };
  return toListedPage(await batch(ctx.db, collaboratorPage(ctx.db, list)));
}

const collaboratorPage = prepareAll(
  (db, { repoId, reader, ...slice }: Params<Slice & { repoId: number; reader: Reader }>) =>
    selectCollaboratorPage(db, repoId, isKnownTo(reader), slice),
);

/** The role for which users of a repository are listed. */
type Role = "assignee" | "reviewer";

/** Selects the ids of the users of a repository who may have a role. */
const eligibleIds = (repo: Params<RepositoryIds>, role: Role): SQL =>
  role === "assignee"
    ? eligibleUserIds(repo, "write", ["issues", "pulls"])
    : eligibleUserIds(repo, "read", ["pulls"]);

/**
 * Lists the users whom issues and pull requests of a repository may be assigned to, by name, the
 * owner last.
 */
export const listAssignees = (
  ctx: Ctx,
  repo: RepositoryContext,
  slice: Slice,
): Promise<Listed<User>> => listEligible(ctx, repo, "assignee", slice);

/**
 * Lists the users whose review of a pull request may be requested, by name, the owner last.
 *
 * @throws Failure `forbidden` unless the caller is one of them or administers the repository.
 */
export async function listReviewers(
  ctx: Ctx,
  repo: RepositoryContext,
  slice: Slice,
): Promise<Listed<User>> {
  const [listed, [self]] = await Promise.all([
    listEligible(ctx, repo, "reviewer", slice),
    eligibleSelf(ctx.db, { repo: idsOf(repo), userId: ctx.actor.user?.id ?? null }, "reviewer"),
  ]);
  if (!self && !isAllowed(repo, { mode: "admin" })) {
    throw forbidden("doer has no permission to get reviewers");
  }
  return listed;
}

async function listEligible(
  ctx: Ctx,
  repo: RepositoryContext,
  role: Role,
  { size, offset }: Slice,
): Promise<Listed<User>> {
  const list = { repo: idsOf(repo), reader: readerOf(ctx, repo), size, offset };
  return toListedPage(await batch(ctx.db, eligiblePage(ctx.db, list, role)), ({ user }) => user);
}

/** A repository's id and that of its owner. */
type RepositoryIds = Pick<Repository, "id" | "ownerId">;

const idsOf = ({ row: { id, ownerId } }: RepositoryContext): RepositoryIds => ({ id, ownerId });

const eligiblePage = prepareAll(
  (db, list: Params<Slice & { repo: RepositoryIds; reader: Reader }>, role: Role) => {
    const isListed = allOf(
      sql`${users.id} in ${eligibleIds(list.repo, role)}`,
      sql`${users.isActive}`,
      isKnownTo(list.reader),
    );
    return {
      rows: db
        .select({ user: columnsOf(users, "u") })
        .from(users)
        .where(isListed)
        .orderBy(sql`${users.id} = ${list.repo.ownerId}`, asc(users.lowerName))
        .limit(list.size)
        .offset(list.offset),
      counted: db
        .select({ total: sql<number>`count(*)`.as("total") })
        .from(users)
        .where(isListed),
    };
  },
);

const eligibleSelf = prepare(
  (db, { repo, userId }: Params<{ repo: RepositoryIds; userId: number | null }>, role: Role) =>
    db
      .select({ id: users.id })
      .from(users)
      .where(allOf(eq(users.id, userId), sql`${users.id} in ${eligibleIds(repo, role)}`)),
);

/** The caller and the repository of a list of users with a role. */
interface Reader {
  readonly principal: Principal;
  /**
   * SECURITY: administrators of the repository know everybody with a role there; others see no
   * account that is hidden from them.
   */
  readonly knowsAll: boolean;
}

const readerOf = (ctx: Ctx, repo: RepositoryContext): Reader => ({
  principal: principalOf(ctx.actor),
  knowsAll: isAllowed(repo, { mode: "admin" }) && !ctx.actor.scopes.isPublicOnly,
});

/** The condition for a user who has a role in a repository and whom the caller may know. */
const isKnownTo = ({ principal, knowsAll }: Params<Reader>): SQL =>
  knowsAll ? sql`1` : isAccountVisible(principal);
