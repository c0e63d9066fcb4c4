import type { Requirement } from "../auth/access/requirement.ts";
import { findContentRevision } from "../domain/code/contents/find-entry.ts";
import type { Revision } from "../domain/code/git/find-revision.ts";
import { readSnapshot, type RepositorySnapshot } from "../domain/code/git/open-snapshot.ts";
import type { IncomingRequest } from "../entrance/door.ts";
import { enterRepository, type RequestContext } from "../entrance/enter-repository.ts";
import { Moved } from "../entrance/moved.ts";
import { notFound } from "../lib/failure.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
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
  { ref, ...named }: { owner: string; name: string; ref: string },
  read: (opened: OpenedAt) => Promise<T>,
): Promise<T> {
  const entered = await enter(incoming, named);
  return readSnapshot(entered.ctx, entered.repo, async (snapshot) => {
    const revision = await findContentRevision(snapshot, entered.repo, ref);
    if (!revision) throw notFound("no such branch, tag or commit", "no-such-ref");
    return read({ ...entered, snapshot, revision });
  });
}

/** Enters a repository, by a former name too. */
async function enter(
  incoming: IncomingRequest,
  named: { owner: string; name: string },
): Promise<RequestContext> {
  let moved: { owner: string; name: string } | undefined;
  const target = {
    scopes: ["read:repository"],
    anonymous: "never",
    requirement: READ_CODE,
    pathAt: ({ owner, row }: RepositoryContext) => {
      moved = { owner: owner.name, name: row.name };
      return "";
    },
  } as const;
  try {
    return await enterRepository(incoming, { ...target, ...named });
  } catch (error) {
    if (!(error instanceof Moved) || !moved) throw error;
    return await enterRepository(incoming, { ...target, ...moved });
  }
}
