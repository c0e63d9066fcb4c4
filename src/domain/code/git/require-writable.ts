import { requireAccess } from "../../../auth/access/permission.ts";
import { Failure, forbidden } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * Asserts that the caller may change the code of a repository now.
 *
 * @throws Failure `not_found` if the code unit is disabled, `forbidden` if the caller may not write
 * to it or the repository is a mirror, `locked` if it is archived.
 */
export function requireWritable(repo: RepositoryContext): void {
  requireAccess(repo, { unit: "code", mode: "write" });
  const { row, owner } = repo;
  if (row.archivedAt !== null) {
    throw new Failure("locked", `${owner.name}/${row.name} is archived`);
  }
  if (row.isMirror) throw forbidden("Git Repository is a mirror.");
}
