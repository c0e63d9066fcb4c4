import type { Ctx } from "../../../context.ts";
import { GitError } from "../../../git/error.ts";
import type { PackBuilder } from "../../../git/pack/pack-builder.ts";
import { invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { ReceivedPack } from "../../../storage/pack-receiver.ts";
import type {
  HeldLease,
  PullRefs,
  PushedMerge,
  Snapshot,
} from "../../../storage/repository-records.ts";
import type { BegunUpload, StoredRepository } from "../../../storage/storage.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";
import { packLimits } from "./pack-limits.ts";
import { type Adopted, type PushCause, pushRefs, withAdopted } from "./push-refs.ts";
import { type RefUpdateRequest, requireUpdated, toCommand } from "./ref-update-request.ts";

/** A repository snapshot, and a pack for the new objects. */
export interface SnapshotDraft {
  readonly snapshot: RepositorySnapshot;
  readonly pack: PackBuilder;
}

/** The result of a change. */
interface Change {
  readonly updates: readonly RefUpdateRequest[];
  /** The merges of pull requests that it makes. */
  readonly merges?: readonly PushedMerge[];
  /** The pack, where it is not the one of the draft. */
  readonly packPieces?: AsyncIterable<Uint8Array>;
}

interface ChangeOptions {
  /** The packs that the change takes from another repository of the network. */
  readonly adopted?: Adopted | undefined;
  readonly cause?: PushCause;
  readonly lease?: HeldLease;
  /** Which refs of pull requests the snapshot has; none if missing. */
  readonly pulls?: PullRefs;
}

/** A stored change. */
export interface CommittedChange<T> {
  /** The return value of `change`. */
  readonly result: T;
  /**
   * The repository snapshot whose catalog includes the stored pack, with the refs as they were
   * before.
   */
  readonly snapshot: RepositorySnapshot;
  /** Size of the stored pack, in bytes. */
  readonly packBytes: number;
}

/**
 * Commits a change: opens the repository, lets `change` fill a pack, stores the pack and atomically
 * applies the ref updates that `change` returns.
 *
 * The objects are checked as those of a push are, including their connectivity.
 *
 * Cost: two calls of the repository's Durable Object, three bucket writes.
 *
 * @param change Looks at objects by `resident`: the tables of large packs are read by block.
 * @throws Failure `conflict` if a ref was updated concurrently, `invalid` for malformed or
 * disallowed objects, ProtectedRef if a rule refuses an update. No ref is updated then, and stored
 * data is removed.
 */
export async function commitChange<T extends Change>(
  ctx: Ctx,
  repo: RepositoryContext,
  change: (draft: SnapshotDraft) => Promise<T>,
  { adopted, cause = "push", lease, pulls }: ChangeOptions = {},
): Promise<CommittedChange<T>> {
  const stored = ctx.git.repository(repo.row);
  const begun = await stored.beginUpload(ctx.now, pulls);
  const { uploadId, snapshot } = begun;
  const { result, received } = await storeChange(ctx, stored, begun, change, adopted);
  const { repository, reachable, record: pack } = received;
  const commands = result.updates.map(toCommand);
  // From here on, `pushRefs` cleans up the upload.
  const { merges } = result;
  const objects = { repository, reachable, uploadId, pack, adopted };
  const push = { cause, commands, isAtomic: true, ...objects, merges, lease };
  requireUpdated(await pushRefs(ctx, repo, push));
  return { result, snapshot: { state: snapshot, repository }, packBytes: pack.packBytes };
}

/** Lets `change` fill a pack and stores it. Removes stored data on failure. */
async function storeChange<T extends Change>(
  ctx: Ctx,
  stored: StoredRepository,
  { uploadId, snapshot }: BegunUpload,
  change: (draft: SnapshotDraft) => Promise<T>,
  adopted: Adopted | undefined,
): Promise<{ result: T; received: ReceivedPack }> {
  const { config } = ctx;
  const receiver = stored.receivePack(uploadId, packLimits(config), config.findingSeverities);
  try {
    const repository = await stored.openByBlock(withPacks(snapshot, adopted));
    const pack = stored.startPack();
    const result = await change({ snapshot: { state: snapshot, repository }, pack });
    for await (const piece of result.packPieces ?? [pack.build()]) await receiver.write(piece);
    const received = await receiver.finish(repository, withAdopted(snapshot, adopted));
    if (!received) throw new Error("a pack without objects");
    return { result, received };
  } catch (error) {
    ctx.defer(stored.dropUpload(uploadId, receiver));
    if (error instanceof GitError) throw invalid(`the change can't be made: ${error.message}`);
    throw error;
  }
}

/** The snapshot with the adopted packs behind its own, where they will be listed. */
function withPacks(snapshot: Snapshot, adopted: Adopted | undefined): Pick<Snapshot, "packs"> {
  const listed = new Set(snapshot.packs.map(({ name }) => name));
  const added = (adopted?.packs ?? []).filter(({ name }) => !listed.has(name));
  return { packs: [...snapshot.packs, ...added] };
}
