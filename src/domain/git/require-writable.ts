import { requireAccess } from "../../auth/access/require-access.ts";
import { Failure, forbidden } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/**
 * Refuses a change of the code where nobody may make one.
 *
 * @throws Failure `not_found` where the code unit is switched off, `forbidden` for those who may not
 * write there and where the repository is a mirror, `locked` where it is archived.
 */
export function requireWritable(repo: RepositoryContext): void {
  requireAccess(repo, { unit: "code", mode: "write" });
  const { row, owner } = repo;
  if (row.archivedAt !== null) {
    throw new Failure("locked", `${owner.name}/${row.name} is archived`);
  }
  if (row.isMirror) throw forbidden("Git Repository is a mirror.");
}
