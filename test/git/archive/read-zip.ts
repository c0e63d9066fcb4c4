import { crc32, inflateRawSync } from "node:zlib";

/** The metadata of a zip entry, except for its compression, and its content. */
interface ZipEntry {
  readonly name: string;
  readonly fields: Readonly<Record<string, number | string>>;
  /** One char for each byte. */
  readonly content: string;
}

export interface Zip {
  readonly comment: string;
  readonly entries: readonly ZipEntry[];
}

/**
 * Reads a zip file from its end, as readers do, with 64-bit sizes. @throws Error if it is
 * inconsistent.
 */
export function readZip(zip: Buffer): Zip {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06"));
  const comment = zip.subarray(end + 22, end + 22 + zip.readUInt16LE(end + 20)).toString();
  let count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  if (end >= 20 && zip.readUInt32LE(end - 20) === 0x07064b50) {
    const end64 = Number(zip.readBigUInt64LE(end - 20 + 8));
    if (zip.readUInt32LE(end64) !== 0x06064b50) throw new Error("no end of 64 bits");
    count = Number(zip.readBigUInt64LE(end64 + 32));
    at = Number(zip.readBigUInt64LE(end64 + 48));
  }
  const entries: ZipEntry[] = [];
  for (let entry = 0; entry < count; entry++) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error("no entry of the directory");
    const [nameLength, extraLength] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)];
    const extraAt = at + 46 + nameLength;
    const extra = zip.subarray(extraAt, extraAt + extraLength);
    entries.push({
      name: zip.subarray(at + 46, extraAt).toString("latin1"),
      fields: {
        madeOn: zip.readUInt16LE(at + 4),
        // Ignores the flag for a data descriptor: git streams other entries than this
        // implementation.
        flags: zip.readUInt16LE(at + 8) & ~8,
        time: zip.readUInt32LE(at + 12),
        crc: zip.readUInt32LE(at + 16),
        sizeBytes: zip.readUInt32LE(at + 24),
        inner: zip.readUInt16LE(at + 36),
        outer: zip.readUInt32LE(at + 38),
        extra: extra.subarray(0, 9).toString("hex"),
      },
      content: readContent(zip, at, extra),
    });
    at = extraAt + extraLength + zip.readUInt16LE(at + 32);
  }
  return { comment, entries };
}

function readContent(zip: Buffer, at: number, extra: Buffer): string {
  // The 64-bit extra field holds only the values that do not fit in 32 bits.
  const wide: number[] = [];
  for (let field = 0; field < extra.length; field += 4 + extra.readUInt16LE(field + 2)) {
    if (extra.readUInt16LE(field) !== 1) continue;
    for (let value = 0; value < extra.readUInt16LE(field + 2); value += 8) {
      wide.push(Number(extra.readBigUInt64LE(field + 4 + value)));
    }
  }
  const take = (field: number): number => {
    const value = zip.readUInt32LE(field);
    return value === 0xffffffff ? (wide.shift() ?? value) : value;
  };
  const [sizeBytes, packedBytes, local] = [take(at + 24), take(at + 20), take(at + 42)];
  if (zip.readUInt32LE(local) !== 0x04034b50) throw new Error("no entry where it should be");
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + packedBytes);
  const content = zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(packed) : packed;
  if (content.length !== sizeBytes || crc32(content) !== zip.readUInt32LE(at + 16)) {
    throw new Error("a content is not what the directory says");
  }
  return content.toString("latin1");
}
