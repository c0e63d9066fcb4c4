import { type Codec, type Hash, HOST_HASH_BYTES_MIN } from "../codec.ts";
import { Sha1 } from "../hash/sha1.ts";
import { formatOid, type Oid } from "../oid.ts";
import type { ObjectKind } from "./kind.ts";

/**
 * Hashes objects one after another, each given in pieces, by the engine or by the host according
 * to its size. Without a codec everything is hashed by the engine.
 */
export class ObjectHasher {
  private readonly codec: Codec | undefined;
  private readonly small = new Sha1();
  private large: Hash | undefined;

  constructor(codec?: Codec) {
    this.codec = codec;
  }

  /** Begins an object of `sizeBytes`, forgetting one that was not finished. */
  start(kind: ObjectKind, sizeBytes: number): void {
    const isLarge = this.codec !== undefined && sizeBytes >= HOST_HASH_BYTES_MIN;
    this.large = isLarge ? this.codec?.createSha1() : undefined;
    if (!isLarge) this.small.reset();
    this.update(objectHeader(kind, sizeBytes));
  }

  update(bytes: Uint8Array): void {
    if (this.large) this.large.update(bytes);
    else this.small.update(bytes);
  }

  /** Writes the raw id of the object into `oids`. */
  digestInto(oids: Uint8Array, offset: number): void {
    if (this.large) oids.set(this.large.digest(), offset);
    else this.small.digestInto(oids, offset);
  }
}

/** The id of an object, given its content without header. */
export function hashObject(kind: ObjectKind, content: Uint8Array, codec?: Codec): Oid {
  const hasher = new ObjectHasher(codec);
  hasher.start(kind, content.length);
  hasher.update(content);
  const raw = new Uint8Array(20);
  hasher.digestInto(raw, 0);
  return formatOid(raw);
}

/** What is hashed in front of an object's content: `blob 12` and a NUL. */
function objectHeader(kind: ObjectKind, sizeBytes: number): Uint8Array {
  const text = `${kind} ${sizeBytes}\0`;
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
