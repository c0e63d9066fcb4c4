import type { Codec } from "../codec.ts";
import { KIND_CODES } from "../object/kind.ts";
import type { StoredObject } from "../store.ts";
import { formatEntryHeader } from "./entry-header.ts";
import { formatPackHeader } from "./pack-scanner.ts";

/**
 * Writes a pack of whole objects piece by piece, each object as it comes: memory holds one of them.
 *
 * @param count The number of `objects`, each of which may appear once.
 */
export async function* streamPack(
  count: number,
  objects: AsyncIterable<StoredObject>,
  codec: Codec,
): AsyncGenerator<Uint8Array> {
  const hash = codec.createSha1();
  const header = formatPackHeader(count);
  hash.update(header);
  yield header;
  for await (const { kind, content } of objects) {
    const pieces = [formatEntryHeader(KIND_CODES[kind], content.length), codec.deflate(content)];
    for (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
  }
  yield hash.digest();
}
