import type { Codec } from "../codec.ts";
import { hashObject } from "../object/hash-object.ts";
import { KIND_CODES, type ObjectKind } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import { joinBytes } from "../wire/pkt-line.ts";
import { DeltaEncoder } from "./delta-encoder.ts";
import { formatBaseDistance, formatEntryHeader, OFS_DELTA } from "./entry-header.ts";
import { formatPackHeader, PACK_HEADER_BYTES } from "./pack-scanner.ts";

/** Smallest object that is worth a delta, in bytes. */
const DELTA_TARGET_BYTES_MIN = 64;

/**
 * Makes a pack of objects that are in memory: what a change through the API consists of.
 *
 * The whole pack is in memory too, so its objects together should be bounded by the caller.
 */
export class PackBuilder {
  private readonly codec: Codec;
  private readonly pieces: Uint8Array[] = [];
  /** Where each object's entry starts, in bytes. */
  private readonly offsets = new Map<Oid, number>();
  private readonly contents = new Map<Oid, { kind: ObjectKind; content: Uint8Array }>();
  private sizeBytes = PACK_HEADER_BYTES;

  constructor(codec: Codec) {
    this.codec = codec;
  }

  /** Objects added so far. */
  get count(): number {
    return this.offsets.size;
  }

  /**
   * Adds an object and returns its id. One that is there already is not added again.
   *
   * @param baseOid An object added before that this one may be stored as a delta of.
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

  /** The pack. */
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
