import type { Ctx } from "../../context.ts";
import { DEFAULT_PACK_LIMITS } from "../../git/pack/limits.ts";
import type { PackBuilder } from "../../git/pack/pack-builder.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import type { ReceivedPack } from "../../storage/pack-receiver.ts";
import { moveRefs, type RefMove } from "./move-refs.ts";

/** Objects that were made here, and the refs that shall lead to them. */
export interface ObjectPush {
  readonly pack: PackBuilder;
  readonly moves: readonly RefMove[];
  /** An upload that was begun already; one is begun, if undefined. */
  readonly uploadId?: string;
}

/**
 * Stores new objects as a push would bring them, and moves the refs: all or none.
 *
 * The objects take the way of a push: each is checked, and so is what it leads to.
 * Cost: three writes to the bucket, two calls of the repository's object, or one where `uploadId` is given.
 *
 * @param base The repository without the objects.
 * @returns The pack as it was stored.
 * @throws GitError for objects that no repository may hold, Failure `conflict` if a ref is no longer
 * what it was. Nothing is moved then, and what was stored is removed.
 */
export async function pushObjects(
  ctx: Ctx,
  entry: RepositoryEntry,
  base: OpenRepository,
  { pack, moves, ...begun }: ObjectPush,
): Promise<ReceivedPack> {
  const stored = ctx.git.repository(entry.repo);
  const uploadId = begun.uploadId ?? (await stored.beginUpload(ctx.now)).uploadId;
  const receiver = stored.receivePack(uploadId, DEFAULT_PACK_LIMITS);
  let received: ReceivedPack | undefined;
  try {
    await receiver.write(pack.build());
    received = await receiver.finish(base);
  } catch (error) {
    ctx.defer(stored.dropUpload(uploadId, receiver));
    throw error;
  }
  if (!received) throw new Error("a pack without objects");
  const { repository, record } = received;
  await moveRefs(ctx, entry, repository, moves, { uploadId, pack: record });
  return received;
}
