import { isUnitOn } from "../auth/access/unit-switches.ts";
import { isIssueVisible, unitOf } from "../domain/issues/issue/find-issue.ts";
import { selectVersionByName, toVersion } from "../domain/issues/timeline/conversation-version.ts";
import { selectRepositoriesOfName } from "../domain/repos/repository/find-repository.ts";
import { notFound } from "../lib/failure.ts";
import { authenticate } from "./authenticate.ts";
import type { IncomingRequest } from "./door.ts";
import { findPermitted, type RepositoryTarget } from "./enter-repository.ts";

/**
 * Authenticates a request and reads the version of the conversation that it names, in one round
 * trip.
 *
 * @throws Failure and Moved as `enterRepository`; then `not_found` for a number that no issue has,
 *   and where the caller may not see its unit.
 */
export async function enterConversationVersion(
  incoming: IncomingRequest,
  target: RepositoryTarget,
  number: number,
): Promise<string> {
  const { db } = incoming.base;
  const entered = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoriesOfName(db, caller, target),
    () => [selectVersionByName(db, target, number)] as const,
  );
  const { ctx, more } = entered;
  // SECURITY: before anything is said about the issue, which came with a repository that may be
  // hidden.
  const repo = await findPermitted(incoming, ctx, target, entered.target);
  const row = more?.[0][0];
  if (!row || !isIssueVisible(repo, row) || !isUnitOn(repo.row, unitOf(row))) {
    throw notFound("issue does not exist");
  }
  return toVersion(row);
}
