import { invalid } from "../../../lib/failure.ts";

/**
 * Reads the fields of an SSH key or signature in sequence.
 *
 * Every field is a view into the blob: a claimed length is checked against the remaining bytes, and
 * nothing is allocated.
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

  /** Reads bytes without a length prefix. */
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

  /**
   * Reads a protocol string: bytes that are not ASCII become characters that no protocol name
   * contains.
   */
  readName(): string {
    return latin1.decode(this.readString());
  }

  /**
   * Reads a non-negative number.
   *
   * SECURITY: only the shortest encoding is accepted. Padded encodings of a number would give one
   * key several fingerprints, and the unique fingerprint prevents a key from being registered
   * twice.
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

/** Joins fields into a blob, each with a length prefix; text is ASCII. */
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

/** The mpint encoding of a big-endian number: with a leading zero byte if the top bit is set. */
export function formatNatural(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? new Uint8Array() : bytes.subarray(first);
  return (digits[0] ?? 0) > 127 ? Uint8Array.of(0, ...digits) : digits;
}

const latin1 = new TextDecoder("latin1");
