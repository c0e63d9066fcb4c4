import type { Steps } from "../budget.ts";
import { type Codec, type Hash, HOST_HASH_BYTES_MIN } from "../codec.ts";
import { Sha1 } from "../hash/sha1.ts";
import { formatOid, type Oid } from "../oid.ts";
import type { ObjectKind } from "./kind.ts";

/** Bytes that are hashed before an object in parts yields. */
const PART_BYTES = 512 * 1024;
/** Steps to hash a byte by the host. */
const STEPS_PER_BYTE = 0.15;

/**
 * Hashes a sequence of objects, each given in pieces. Small objects are hashed by the engine, large
 * ones by the host. Without a codec, the engine hashes everything.
 */
export class ObjectHasher {
  private readonly codec: Codec | undefined;
  private readonly small = new Sha1();
  private large: Hash | undefined;
  private readonly header = new Uint8Array(HEADER_BYTES);

  constructor(codec?: Codec) {
    this.codec = codec;
  }

  /** Starts an object of `sizeBytes` and discards an unfinished one. */
  start(kind: ObjectKind, sizeBytes: number): void {
    const isLarge = this.codec !== undefined && sizeBytes >= HOST_HASH_BYTES_MIN;
    this.large = isLarge ? this.codec?.createSha1() : undefined;
    if (!isLarge) this.small.reset();
    this.update(this.header.subarray(0, writeHeader(this.header, kind, sizeBytes)));
  }

  update(bytes: Uint8Array): void {
    if (this.large) this.large.update(bytes);
    else this.small.update(bytes);
  }

  /** Hashes an object that is in memory, and writes its raw id to `oids` at `offset`. */
  hashInto(kind: ObjectKind, content: Uint8Array, oids: Uint8Array, offset: number): void {
    this.start(kind, content.length);
    this.update(content);
    this.digestInto(oids, offset);
  }

  /** The same in parts. */
  *hashInParts(kind: ObjectKind, content: Uint8Array, oids: Uint8Array, offset: number): Steps {
    this.start(kind, content.length);
    for (let at = 0; at < content.length; at += PART_BYTES) {
      const part = content.subarray(at, at + PART_BYTES);
      this.update(part);
      yield STEPS_PER_BYTE * part.length;
    }
    this.digestInto(oids, offset);
  }

  /** Writes the raw id of the object to `oids` at `offset`. */
  digestInto(oids: Uint8Array, offset: number): void {
    if (this.large) oids.set(this.large.digest(), offset);
    else this.small.digestInto(oids, offset);
  }
}

/** Returns the raw hash of bytes by the host, in parts. */
export function* digestInParts(bytes: Uint8Array, codec: Codec): Steps<Uint8Array> {
  const hash = codec.createSha1();
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    hash.update(bytes.subarray(at, at + PART_BYTES));
    yield STEPS_PER_BYTE * PART_BYTES;
  }
  return hash.digest();
}

/** Returns the id of an object, given its content without header. */
export function hashObject(kind: ObjectKind, content: Uint8Array, codec?: Codec): Oid {
  const hasher = new ObjectHasher(codec);
  hasher.start(kind, content.length);
  hasher.update(content);
  const raw = new Uint8Array(20);
  hasher.digestInto(raw, 0);
  return formatOid(raw);
}

/** Room for a kind and a size. */
const HEADER_BYTES = 32;

/**
 * Writes the header that is hashed before an object's content: `blob 12` and a NUL. @returns Its
 * length.
 */
function writeHeader(bytes: Uint8Array, kind: ObjectKind, sizeBytes: number): number {
  const text = `${kind} ${sizeBytes}\0`;
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return text.length;
}
