import { crc32, deflateRawSync, gzipSync } from "node:zlib";

import { packTar, type TarHeader } from "modern-tar";

/** An entry of an archive to make. What is not given follows from the content. */
export interface MadeEntry {
  readonly path: string;
  readonly content?: string | Uint8Array;
  /** Claims of a zip entry that do not hold. */
  readonly claims?: {
    readonly sizeBytes?: number;
    readonly compressedBytes?: number;
    readonly crc?: number;
    readonly offset?: number;
    readonly method?: number;
    readonly flags?: number;
    /** The path in the local header. */
    readonly localPath?: string;
  };
  /** Unix mode in a zip archive, with its type. */
  readonly mode?: number;
  readonly isStored?: boolean;
  /** Fields of the header of a tar entry. */
  readonly tar?: Partial<TarHeader>;
}

const bytesOf = (content: string | Uint8Array = ""): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : content;

/** Makes a tar archive. */
export const makeTar = (entries: readonly MadeEntry[]): Promise<Uint8Array> =>
  packTar(
    entries.map(({ path, content, tar }) => {
      const data = bytesOf(content).slice();
      return { header: { name: path, size: data.length, ...tar }, data };
    }),
  );

/** Makes a tar archive that is compressed by gzip. */
export const makeTarGz = async (entries: readonly MadeEntry[]): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(gzipSync(await makeTar(entries)));

/** Makes a zip archive, also one whose entries claim what does not hold. */
export function makeZip(entries: readonly MadeEntry[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { path, content, claims = {}, mode = 0o100644, isStored = false } of entries) {
    const bytes = bytesOf(content);
    const data = isStored ? bytes : new Uint8Array(deflateRawSync(bytes));
    const common = [
      [2, 20],
      [2, claims.flags ?? 0x800],
      [2, claims.method ?? (isStored ? 0 : 8)],
      [4, 0x00210000],
      [4, claims.crc ?? crc32(bytes)],
      [4, claims.compressedBytes ?? data.length],
      [4, claims.sizeBytes ?? bytes.length],
    ] as const;
    const name = bytesOf(path);
    const localName = bytesOf(claims.localPath ?? path);
    const local = pack([[4, 0x04034b50], ...common, [2, localName.length], [2, 0]]);
    directory.push(
      pack([
        [4, 0x02014b50],
        [2, 0x0314],
        ...common,
        [2, name.length],
        [2, 0],
        [2, 0],
        [2, 0],
        [2, 0],
        [4, (mode << 16) >>> 0],
        [4, claims.offset ?? offset],
      ]),
      name,
    );
    parts.push(local, localName, data);
    offset += local.length + localName.length + data.length;
  }
  const directoryBytes = directory.reduce((sum, { length }) => sum + length, 0);
  const end = pack([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, entries.length],
    [2, entries.length],
    [4, directoryBytes],
    [4, offset],
    [2, 0],
  ]);
  return concat([...parts, ...directory, end]);
}

/** Little-endian numbers, each of a number of bytes. */
function pack(numbers: readonly (readonly [bytes: number, value: number])[]): Uint8Array {
  return Uint8Array.from(
    numbers.flatMap(([bytes, value]) =>
      Array.from({ length: bytes }, (_, at) => Math.floor(value / 256 ** at) % 256),
    ),
  );
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
