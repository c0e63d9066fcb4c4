import { eq, sql } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { selectPossibleCollaborators } from "../../../auth/access/collaborators.ts";
import { isAllowed, resolvePermission } from "../../../auth/access/permission.ts";
import { ANONYMOUS } from "../../../auth/actor.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { anyOf, type Database } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  ACCESS,
  repositories,
  userRedirects,
  users,
  type Access,
  type RepositoryPermission,
  type User,
} from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isAccountNamed, wasAccountNamed } from "../../people/accounts/find-account.ts";
import { selectRepositories } from "../repository/find-repository.ts";

/** An account, and whether it collaborates on a repository. */
export interface PossibleCollaborator {
  readonly user: User;
  readonly isCollaborator: boolean;
}

/**
 * Finds an account by its current or a former name: one that the caller may see or, for
 * administrators of the repository, any collaborator; undefined if there is none.
 */
export async function findPossibleCollaborator(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
): Promise<PossibleCollaborator | undefined> {
  return toFound(ctx, repo, name, await collaboratorNamed(ctx.db, toNamed(ctx, repo, name)));
}

interface Named {
  readonly repoId: number;
  /** In lower case. */
  readonly name: string;
  readonly principal: Principal;
}

const toNamed = ({ actor }: Ctx, { row }: RepositoryContext, name: string): Named => ({
  repoId: row.id,
  name: name.toLowerCase(),
  principal: principalOf(actor),
});

const selectNamed = (db: Database, { repoId, name, principal }: Params<Named>) =>
  selectPossibleCollaborators(
    db,
    repoId,
    anyOf(isAccountNamed(name), wasAccountNamed(name)),
    isAccountVisible(principal),
  );

const collaboratorNamed = prepare((db, named: Params<Named>) => selectNamed(db, named));

function toFound(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
  rows: Awaited<ReturnType<typeof selectNamed>>,
): PossibleCollaborator | undefined {
  const knowsAll = isAllowed(repo, { mode: "admin" }) && !ctx.actor.scopes.isPublicOnly;
  // The account that has the name now takes precedence over the account that had it before.
  const row = rows.find(({ user }) => user.lowerName === name.toLowerCase()) ?? rows[0];
  return row && (row.isSeen || (knowsAll && row.isCollaborator)) ? row : undefined;
}

/**
 * Finds an account as `findPossibleCollaborator` does, with its mode in the repository: the highest
 * of the repository's own and of its units.
 *
 * A mode in units counts as `write` at most, since nobody administers a repository by it.
 */
export async function findWithMode(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
): Promise<{ user: User; mode: Access } | undefined> {
  const {
    named,
    repos: [row],
  } = await batch(ctx.db, modeOfNamed(ctx.db, toNamed(ctx, repo, name)));
  const found = toFound(ctx, repo, name, named);
  if (!found || !row) return undefined;
  const { user } = found;
  const actor = { ...ANONYMOUS, user, isSiteAdmin: user.isAdmin };
  return { user, mode: overallMode(resolvePermission(actor, row.repo, row)) };
}

const modeOfNamed = prepareAll((db, named: Params<Named>) => {
  const namedId = sql`coalesce(
    (select ${users.id} from ${users} where ${users.lowerName} = ${named.name}),
    (select user_id from ${userRedirects} where ${userRedirects.lowerName} = ${named.name})
  )`;
  const caller = { actorId: namedId, boundTokenId: sql`null` };
  return {
    named: selectNamed(db, named),
    repos: selectRepositories(db, caller).where(eq(repositories.id, named.repoId)),
  };
});

const overallMode = ({ mode, units }: RepositoryPermission): Access =>
  Math.max(mode, Math.min(ACCESS.write, Math.max(...Object.values(units)))) as Access;
