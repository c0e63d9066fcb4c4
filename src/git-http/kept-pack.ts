import { PACK_COUNT_OFFSET } from "../git/pack/pack-scanner.ts";
import { FRAME_SPACING } from "../git/wire/side-band.ts";
import { joinBytes } from "../git/wire/pkt-line.ts";
import type { Gauge } from "../git/store.ts";
import { ENTRY_BYTES_MAX, type ResultEntry } from "../storage/result-cache.ts";

/** A pack as it is sent, and the number of its objects. */
export interface SentPack {
  readonly objectCount: number;
  /** Returns git's summary line ("Total …"). */
  readonly pieces: AsyncGenerator<Uint8Array, string>;
}

/** Bytes of packs that the isolate collects at once, at most: others are sent and not kept. */
const COLLECTED_BYTES_MAX = 2 * ENTRY_BYTES_MAX;

let collectedBytes = 0;

/** Reads a pack that was kept in frames; undefined if there is none. */
export async function openKept(
  pieces: AsyncGenerator<Uint8Array> | undefined,
): Promise<SentPack | undefined> {
  const first = await pieces?.next();
  if (!pieces || !first || first.done) return undefined;
  const { value } = first;
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  const objectCount = view.getUint32(FRAME_SPACING.gapBytes + PACK_COUNT_OFFSET);
  async function* frames(): AsyncGenerator<Uint8Array, string> {
    yield value;
    yield* pieces as AsyncGenerator<Uint8Array>;
    const total = `Total ${objectCount} (delta 0), reused 0 (delta 0)`;
    return `${total}, pack-reused ${objectCount} (from 1)\n`;
  }
  return { objectCount, pieces: frames() };
}

/** Keeps what is sent of a pack, if it is not too large and is sent to its end. */
export async function* keepPieces(
  sent: AsyncGenerator<Uint8Array, string>,
  entry: ResultEntry,
  gauge: Gauge,
): AsyncGenerator<Uint8Array, string> {
  let pieces: Uint8Array[] | undefined = [];
  let bytes = 0;
  const drop = (): void => {
    if (pieces) collectedBytes -= bytes;
    pieces = undefined;
    gauge(0);
  };
  try {
    for (;;) {
      const { value, done } = await sent.next();
      if (done) {
        if (pieces) entry.keep(joinBytes(pieces));
        return value;
      }
      if (pieces) {
        bytes += value.length;
        collectedBytes += value.length;
        // Who sends a piece takes its buffer.
        pieces.push(value.slice());
        gauge(bytes);
        if (bytes > ENTRY_BYTES_MAX || collectedBytes > COLLECTED_BYTES_MAX) drop();
      }
      yield value;
    }
  } finally {
    drop();
    await sent.return("");
  }
}
