import { requireAccess } from "../../../auth/access/permission.ts";
import { Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * Asserts that the caller may change the releases of a repository now.
 *
 * @throws Failure `not_found` or `forbidden` for callers who do not write them; `locked` in an
 *   archived repository.
 */
export function requireReleaseWriting(repo: RepositoryContext): void {
  requireAccess(repo, { unit: "releases", mode: "write" });
  const { row, owner } = repo;
  if (row.archivedAt !== null) {
    throw new Failure("locked", `${owner.name}/${row.name} is archived`);
  }
}
