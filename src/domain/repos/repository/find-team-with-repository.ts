import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import type { Repository, Team } from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import { findTeam } from "../../people/orgs/find-team.ts";
import { findVisibleRepository } from "./find-repository.ts";

/**
 * Finds a team, and a repository of its organization that the caller administers.
 *
 * @throws Failure as `findTeam`; `not_found` for a repository that the caller may not see or of
 * another owner, `forbidden` for one that the caller does not administer.
 */
export async function findTeamWithRepository(
  ctx: Ctx,
  teamId: number,
  named: { readonly owner: string; readonly name: string },
): Promise<{ team: Team; repo: Repository }> {
  const [{ team }, repo] = await Promise.all([
    findTeam(ctx, teamId),
    findVisibleRepository(ctx, named.owner, named.name),
  ]);
  if (repo?.row.ownerId !== team.orgId) throw notFound();
  if (!isAllowed(repo, { mode: "admin" })) {
    throw forbidden("Must have admin-level access to the repository");
  }
  return { team, repo: repo.row };
}
