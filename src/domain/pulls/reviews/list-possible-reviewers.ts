import type { Ctx } from "../../../context.ts";
import type { Team, User } from "../../../db/schema/index.ts";
import { Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { listRepositoryTeams } from "../../people/orgs/repository-teams.ts";
import { listReviewers } from "../../repos/collaborators/list-collaborators.ts";

/** Those whose review of a pull request a caller may request. */
export interface PossibleReviewers {
  readonly users: readonly User[];
  /** Those that reach the repository, as far as the caller may know of them. */
  readonly teams: readonly Team[];
  /** Whether there are more teams. */
  readonly hasMoreTeams: boolean;
}

/** Users, and teams, that are offered. */
const SOME = { size: 100, offset: 0 };

/**
 * Lists those whose review of a pull request the caller may request; undefined for callers who may
 * request none.
 *
 * Cost: one round trip of the database, of up to four calls.
 */
export async function listPossibleReviewers(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<PossibleReviewers | undefined> {
  const isOfOrganization = repo.owner.kind === "organization";
  const [users, teams] = await Promise.all([
    unlessForbidden(listReviewers(ctx, repo, SOME)),
    isOfOrganization ? unlessForbidden(listRepositoryTeams(ctx, repo, SOME)) : undefined,
  ]);
  return (
    users && {
      users: users.items,
      teams: teams?.items.map(({ team }) => team) ?? [],
      hasMoreTeams: teams !== undefined && teams.total > teams.items.length,
    }
  );
}

const unlessForbidden = <T>(listed: Promise<T>): Promise<T | undefined> =>
  listed.catch((error: unknown) => {
    if (error instanceof Failure && error.kind === "forbidden") return undefined;
    throw error;
  });
