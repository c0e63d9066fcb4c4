import type { Ctx } from "../../context.ts";
import type { Repository } from "../../db/schema/index.ts";
import type { ObjectLocation } from "../../git/catalog/pack-catalog.ts";
import { LargeContents } from "../../git/pack/large-contents.ts";
import { codec } from "../../storage/codec.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";

/** What an object is called in scratch, where it is alone. */
const ALONE = 0;

/**
 * The content of a blob of any size, in pieces that are the taker's own.
 *
 * Cost: one that is too large for memory and stored as a delta is made in scratch first.
 */
export async function* streamBlob(
  ctx: Ctx,
  repo: Repository,
  { catalog, objects }: OpenRepository,
  location: ObjectLocation,
): AsyncGenerator<Uint8Array> {
  const chain = catalog.base(location) && objects.findLarge(catalog.oid(location));
  if (!chain) {
    for await (const piece of objects.streamAt(location)) yield piece.slice();
    return;
  }
  const stored = ctx.git.repository(repo);
  const { uploadId, scratch } = await stored.openScratch(ctx.now);
  try {
    const large = new LargeContents(scratch, codec);
    await large.keepChain(ALONE, chain);
    yield* large.read(ALONE);
  } finally {
    await stored.dropUpload(uploadId);
  }
}
