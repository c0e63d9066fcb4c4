import { deflateSync } from "node:zlib";

import { formatEntryHeader } from "../../../src/git/pack/entry-header.ts";
import { formatPackHeader } from "../../../src/git/pack/pack-scanner.ts";
import { codec } from "./codec.ts";

/** A pack, and the sum of the sizes that its entries and deltas announce. */
export interface SizedPack {
  readonly pack: Buffer;
  readonly inflatedBytes: number;
  /** Bytes of the pack before its last entry. */
  readonly lastOffset: number;
}

/** Bytes that a delta can encode by two bytes of distance: see gitformat-pack(5), "OFS_DELTA". */
const distanceBytes = (distance: number): Uint8Array =>
  Uint8Array.of(128 | ((distance - 128) >> 7), (distance - 128) & 127);

/** A size at the start of a delta, seven bits a byte. */
const sizeBytes = (size: number): number[] =>
  size < 128 ? [size] : [(size & 127) | 128, ...sizeBytes(size >>> 7)];

/** Bytes that do not compress. */
export const makeNoise = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (Math.sin(at + 1) * 1e6) & 255);

/**
 * A pack of a blob of `baseBytes` bytes of noise, at most 16 KB, and of deltas that each repeat it
 * `copies` times and append a byte of their own.
 */
export function makeRepeatingPack(baseBytes: number, deltas: number, copies = 1): SizedPack {
  const base = makeNoise(baseBytes);
  const resultBytes = baseBytes * copies + 1;
  const entries = [Buffer.concat([formatEntryHeader(3, baseBytes), deflateSync(base)])];
  let [distance, inflatedBytes, lastOffset] = [entries[0]?.length ?? 0, baseBytes, 12];
  for (let at = 0; at < deltas; at++) {
    const copy = Array.from({ length: copies }, () => [0xb0, baseBytes & 255, baseBytes >> 8]);
    const sizes = [...sizeBytes(baseBytes), ...sizeBytes(resultBytes)];
    const delta = Uint8Array.from([...sizes, ...copy.flat(), 1, at]);
    const entry = Buffer.concat([
      formatEntryHeader(6, delta.length),
      distanceBytes(distance),
      deflateSync(delta),
    ]);
    entries.push(entry);
    lastOffset = 12 + distance;
    distance += entry.length;
    inflatedBytes += delta.length + resultBytes;
  }
  const body = Buffer.concat([formatPackHeader(entries.length), ...entries]);
  const hash = codec.createSha1();
  hash.update(body);
  return { pack: Buffer.concat([body, hash.digest()]), inflatedBytes, lastOffset };
}
