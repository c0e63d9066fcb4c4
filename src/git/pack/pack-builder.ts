import type { Codec } from "../codec.ts";
import { hashObject } from "../object/hash-object.ts";
import { KIND_CODES, type ObjectKind } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import { joinBytes } from "../wire/pkt-line.ts";
import { DeltaEncoder } from "./delta-encoder.ts";
import { formatBaseDistance, formatEntryHeader, OFS_DELTA } from "./entry-header.ts";
import { formatPackHeader, PACK_HEADER_BYTES } from "./pack-scanner.ts";

/** Smallest object worth a delta, in bytes. */
const DELTA_TARGET_BYTES_MIN = 64;

/**
 * Builds a pack from objects in memory, for a change made through the API.
 *
 * The whole pack is in memory too, so the caller must bound the total size of its objects.
 */
export class PackBuilder {
  private readonly codec: Codec;
  private readonly pieces: Uint8Array[] = [];
  /** Start of each object's entry, in bytes. */
  private readonly offsets = new Map<Oid, number>();
  private readonly contents = new Map<Oid, { kind: ObjectKind; content: Uint8Array }>();
  private sizeBytes = PACK_HEADER_BYTES;

  constructor(codec: Codec) {
    this.codec = codec;
  }

  /** Number of objects added so far. */
  get count(): number {
    return this.offsets.size;
  }

  /**
   * Adds an object and returns its id. A second addition of the same object is ignored.
   *
   * @param baseOid An object added earlier that may serve as the delta base.
   */
  add(kind: ObjectKind, content: Uint8Array, baseOid?: Oid): Oid {
    const oid = hashObject(kind, content, this.codec);
    if (this.offsets.has(oid)) return oid;
    const offset = this.sizeBytes;
    const base = baseOid === undefined ? undefined : this.contents.get(baseOid);
    const baseOffset = this.offsets.get(baseOid ?? "");
    const delta =
      base?.kind === kind && content.length >= DELTA_TARGET_BYTES_MIN
        ? new DeltaEncoder(base.content).encode(content, content.length / 2)
        : undefined;
    if (delta && baseOffset !== undefined) {
      this.push(formatEntryHeader(OFS_DELTA, delta.length));
      this.push(formatBaseDistance(offset - baseOffset));
      this.push(this.codec.deflate(delta));
    } else {
      this.push(formatEntryHeader(KIND_CODES[kind], content.length));
      this.push(this.codec.deflate(content));
    }
    this.offsets.set(oid, offset);
    this.contents.set(oid, { kind, content });
    return oid;
  }

  /** Returns the pack. */
  build(): Uint8Array {
    const pieces = [formatPackHeader(this.count), ...this.pieces];
    const hash = this.codec.createSha1();
    for (const piece of pieces) hash.update(piece);
    return joinBytes([...pieces, hash.digest()]);
  }

  private push(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.sizeBytes += bytes.length;
  }
}
