import { Failure, forbidden, notFound } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";

/**
 * Refuses a change of the code where nobody may make one.
 *
 * @throws Failure `locked` where the repository is archived, `forbidden` where it is a mirror,
 * `not_found` where the code unit is switched off.
 */
export function requireWritable({ repo, owner }: RepositoryEntry): void {
  if (!repo.hasCode) throw notFound();
  if (repo.archivedAt !== null) {
    throw new Failure("locked", `${owner.name}/${repo.name} is archived`);
  }
  if (repo.isMirror) throw forbidden("Git Repository is a mirror.");
}
