import { requireAccess } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { ACCESS } from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * Asserts that the caller may add statuses to commits: who writes the code may, and a job if its
 * workflow grants it `statuses: write`.
 *
 * @returns The repository, in which such a job may look for the commit.
 * @throws Failure `not_found` or `forbidden`.
 */
export function requireStatusWriting(repo: RepositoryContext): RepositoryContext {
  const { row, permission } = repo;
  const { statuses, units } = permission;
  if (statuses === undefined) {
    requireAccess(repo, { unit: "code", mode: "write" });
    return repo;
  }
  if (!isUnitOn(row, "code")) throw notFound();
  if (statuses < ACCESS.write) {
    throw forbidden("the workflow does not grant its job `statuses: write`");
  }
  const code = units.code < ACCESS.read ? ACCESS.read : units.code;
  return { ...repo, permission: { ...permission, units: { ...units, code } } };
}
