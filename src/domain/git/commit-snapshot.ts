import type { Ctx } from "../../context.ts";
import { GitError } from "../../git/error.ts";
import { DEFAULT_PACK_LIMITS } from "../../git/pack/limits.ts";
import type { PackBuilder } from "../../git/pack/pack-builder.ts";
import { invalid } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { ReceivedPack } from "../../storage/pack-receiver.ts";
import type { BegunUpload, StoredRepository } from "../../storage/storage.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";
import { pushRefs } from "./push-refs.ts";
import { type RefUpdateRequest, requireMoved, toCommand } from "./ref-update-request.ts";

/** The code of a repository at one moment, and a pack to be filled with what is new. */
export interface SnapshotDraft {
  readonly snapshot: RepositorySnapshot;
  readonly pack: PackBuilder;
}

/** A change that was stored. */
export interface ChangedCode<T> {
  /** What the change answered with. */
  readonly made: T;
  /** The code with it. */
  readonly snapshot: RepositorySnapshot;
  /** Size of the pack that was stored, in bytes. */
  readonly packBytes: number;
}

/**
 * Changes the code: opens it, lets `change` fill a pack, stores that and moves the refs that
 * `change` answers with, all of them or none.
 *
 * The objects take the way of a push: each is checked, and so is what it leads to.
 * Cost: two calls of the repository's object, three writes to the bucket.
 *
 * @throws Failure `conflict` if a ref was moved by somebody else meanwhile, `invalid` for objects
 * that no repository may hold. Nothing is moved then, and what was stored is removed.
 */
export async function commitSnapshot<T extends { readonly updates: readonly RefUpdateRequest[] }>(
  ctx: Ctx,
  repo: RepositoryContext,
  change: (draft: SnapshotDraft) => Promise<T>,
): Promise<ChangedCode<T>> {
  const stored = ctx.git.repository(repo.row);
  const begun = await stored.beginUpload(ctx.now);
  const { uploadId, snapshot } = begun;
  const { made, received } = await storeChange(ctx, stored, begun, change);
  const { repository, record: pack } = received;
  const commands = made.updates.map(toCommand);
  // From here on the upload is the push's to clean up.
  const push = { commands, isAtomic: true, repository, uploadId, pack };
  requireMoved(await pushRefs(ctx, repo, push));
  return { made, snapshot: { state: snapshot, repository }, packBytes: pack.packBytes };
}

/** Lets `change` fill a pack and stores it; removes what was stored if that fails. */
async function storeChange<T>(
  ctx: Ctx,
  stored: StoredRepository,
  { uploadId, snapshot }: BegunUpload,
  change: (draft: SnapshotDraft) => Promise<T>,
): Promise<{ made: T; received: ReceivedPack }> {
  const receiver = stored.receivePack(uploadId, DEFAULT_PACK_LIMITS);
  try {
    const repository = await stored.open(snapshot);
    const pack = stored.startPack();
    const made = await change({ snapshot: { state: snapshot, repository }, pack });
    await receiver.write(pack.build());
    const received = await receiver.finish(repository);
    if (!received) throw new Error("a pack without objects");
    return { made, received };
  } catch (error) {
    ctx.defer(stored.dropUpload(uploadId, receiver));
    if (error instanceof GitError) throw invalid(`the change can't be made: ${error.message}`);
    throw error;
  }
}
