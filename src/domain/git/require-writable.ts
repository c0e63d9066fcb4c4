import { requireAccess } from "../../auth/access/require-access.ts";
import { Failure, forbidden } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";

/**
 * Refuses a change of the code where nobody may make one.
 *
 * @throws Failure `not_found` where the code unit is switched off, `forbidden` for those who may not
 * write there and where the repository is a mirror, `locked` where it is archived.
 */
export function requireWritable(entry: RepositoryEntry): void {
  requireAccess(entry, { unit: "code", mode: "write" });
  const { repo, owner } = entry;
  if (repo.archivedAt !== null) {
    throw new Failure("locked", `${owner.name}/${repo.name} is archived`);
  }
  if (repo.isMirror) throw forbidden("Git Repository is a mirror.");
}
