import { invalid } from "../../lib/failure.ts";

/**
 * Reads the fields of an SSH key or signature, one after the other.
 *
 * Every field is a view into the blob, so a claimed length is checked against what is there and
 * allocates nothing.
 *
 * @throws Failure `invalid` when a field is longer than the rest of the blob.
 * @see RFC 4251 section 5, "string" and "mpint"
 */
export class SshWireReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  /** Bytes that no length stands before. */
  readBytes(length: number): Uint8Array {
    const start = this.#offset;
    if (length > this.#bytes.length - start) throw invalid("the key data ends early");
    this.#offset = start + length;
    return this.#bytes.subarray(start, this.#offset);
  }

  readUint32(): number {
    const { buffer, byteOffset } = this.readBytes(4);
    return new DataView(buffer, byteOffset).getUint32(0);
  }

  readString(): Uint8Array {
    return this.readBytes(this.readUint32());
  }

  /** A string of the protocol itself: bytes that are not ASCII come out as characters no name has. */
  readName(): string {
    return latin1.decode(this.readString());
  }

  /**
   * Reads a number that may not be negative.
   *
   * SECURITY: only the shortest spelling passes. Padded spellings of one number would give one key
   * many fingerprints, and fingerprints are what keeps a key from being registered twice.
   *
   * @returns Its bytes, big-endian, without a leading zero; none for zero.
   */
  readNatural(): Uint8Array {
    const bytes = this.readString();
    const [first = 0, second = 0] = bytes;
    if (first > 127) throw invalid("the key holds a negative number");
    if (bytes.length > 0 && first === 0 && second < 128) {
      throw invalid("the key holds a number with needless leading zeros");
    }
    return first === 0 ? bytes.subarray(1) : bytes;
  }
}

/** Joins fields into a blob, each preceded by its length; text is ASCII. */
export function formatSshWire(fields: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** The mpint spelling of a big-endian number: a sign byte where the top bit is set. */
export function formatNatural(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? new Uint8Array() : bytes.subarray(first);
  return (digits[0] ?? 0) > 127 ? Uint8Array.of(0, ...digits) : digits;
}

const latin1 = new TextDecoder("latin1");
