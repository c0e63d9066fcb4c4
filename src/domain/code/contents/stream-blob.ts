import type { Ctx } from "../../../context.ts";
import type { Repository } from "../../../db/schema/index.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import { LargeContents } from "../../../git/pack/large-contents.ts";
import { codec } from "../../../storage/codec.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";

/** The key of the only object in the scratch space. */
const SCRATCH_KEY = 0;

/**
 * Streams the content of a blob of any size. The caller owns the yielded chunks.
 *
 * Cost: a blob that is too large for memory and stored as a delta is first reconstructed in scratch
 * space.
 */
export async function* streamBlob(
  ctx: Ctx,
  repo: Repository,
  { catalog, objects }: OpenRepository,
  location: ObjectLocation,
): AsyncGenerator<Uint8Array> {
  const chain = await resident(
    () => catalog.base(location) && objects.findLarge(catalog.oid(location)),
  );
  if (!chain) {
    for await (const piece of objects.streamAt(location)) yield piece.slice();
    return;
  }
  const stored = ctx.git.repository(repo);
  const { uploadId, scratch } = await stored.openScratch(ctx.now);
  try {
    const large = new LargeContents(scratch, codec);
    await large.keepChain(SCRATCH_KEY, chain);
    yield* large.read(SCRATCH_KEY);
  } finally {
    await stored.dropUpload(uploadId);
  }
}
