import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { searchUsers } from "../../people/accounts/search-users.ts";
import { listAssignees } from "./list-collaborators.ts";

/** Users with a role in a repository that are looked at. */
const ROLES_MAX = 100;

/**
 * Lists some users that somebody may mean who has typed a part of a name: first those with a role
 * in the repository, then others who may read it and whom the caller may know.
 *
 * Cost: one round trip of the database, of two calls.
 */
export async function suggestUsers(
  ctx: Ctx,
  repo: RepositoryContext,
  text: string,
  countMax: number,
): Promise<User[]> {
  const isForAll = repo.row.visibility === "public";
  const [roles, others] = await Promise.all([
    listAssignees(ctx, repo, { size: ROLES_MAX, offset: 0 }),
    isForAll && text !== ""
      ? searchUsers(ctx, text, undefined, { size: countMax, offset: 0 })
      : undefined,
  ]);
  const lower = text.toLowerCase();
  const named = roles.items.filter(({ name, fullName }) =>
    `${name}\n${fullName}`.toLowerCase().includes(lower),
  );
  const byId = new Map([...named, ...(others?.items ?? [])].map((user) => [user.id, user]));
  return [...byId.values()].slice(0, countMax);
}
