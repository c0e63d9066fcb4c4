import { notFound } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { findRevision, type Revision } from "../git/find-revision.ts";
import type { Code } from "../git/open-code.ts";

/** Two commits that are compared. */
export interface Comparison {
  readonly base: Revision;
  readonly head: Revision;
}

/**
 * Reads `base...head` or `base..head`; `head` alone is compared with the default branch. A head may
 * carry the name of the repository's owner: `owner:branch`.
 *
 * @throws Failure `not_found` if one of them is no commit, or is another repository's.
 */
export function findComparison(
  code: Code,
  { repo, owner }: RepositoryEntry,
  text: string,
): Comparison {
  const dots = ["...", ".."].find((each) => text.includes(each));
  const at = dots === undefined ? -1 : text.indexOf(dots);
  const baseName = at < 0 ? repo.defaultBranch : text.slice(0, at);
  const headName = dots === undefined ? text : text.slice(at + dots.length);
  // No name of a ref holds a colon.
  const [, ownerName, branch] = /^([^:]*):(.*)$/s.exec(headName) ?? [];
  const isElsewhere = ownerName !== undefined && ownerName.toLowerCase() !== owner.lowerName;
  const base = findRevision(code, baseName);
  const head = isElsewhere ? undefined : findRevision(code, branch ?? headName);
  if (!base || !head) throw notFound();
  return { base, head };
}
