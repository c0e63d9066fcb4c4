import type { Requirement } from "../auth/access/requirement.ts";
import { findContentRevision } from "../domain/code/contents/find-entry.ts";
import type { Revision } from "../domain/code/git/find-revision.ts";
import { readSnapshot, type RepositorySnapshot } from "../domain/code/git/open-snapshot.ts";
import { enterRepository, type RequestContext } from "../entrance/enter-repository.ts";
import { notFound } from "../lib/failure.ts";
import type { McpCall } from "./call.ts";

const READ_CODE: Requirement = { unit: "code", mode: "read" };

/** A commit of a repository that the caller may read. */
export interface OpenedAt extends RequestContext {
  readonly snapshot: RepositorySnapshot;
  readonly revision: Revision;
}

/**
 * Reads a commit of a repository, as no operation of the API does.
 *
 * @param ref A branch, a tag or a commit; "" for the default branch.
 * @throws Failure as `enterRepository` does, and `not_found` for an unknown ref.
 */
export async function openAt<T>(
  { incoming }: McpCall,
  { owner, name, ref }: { owner: string; name: string; ref: string },
  read: (opened: OpenedAt) => Promise<T>,
): Promise<T> {
  const entered = await enterRepository(incoming, {
    owner,
    name,
    scopes: ["read:repository"],
    anonymous: "never",
    requirement: READ_CODE,
    pathAt: ({ owner: { name: newOwner }, row }) => `/${newOwner}/${row.name}`,
  });
  return readSnapshot(entered.ctx, entered.repo, async (snapshot) => {
    const revision = await findContentRevision(snapshot, entered.repo, ref);
    if (!revision) throw notFound("no such branch, tag or commit", "no-such-ref");
    return read({ ...entered, snapshot, revision });
  });
}
