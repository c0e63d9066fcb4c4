import type { ByteSource, ObjectReader, Scratch, StoredObject } from "../../../src/git/store.ts";

/** A file in memory that counts its reads. */
export class MemorySource implements ByteSource {
  reads = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get sizeBytes(): number {
    return this.bytes.length;
  }

  read(start: number, end: number): Promise<Uint8Array> {
    if (start < 0 || end > this.bytes.length) throw new Error(`read of ${start} to ${end}`);
    this.reads++;
    return Promise.resolve(this.bytes.slice(start, end));
  }
}

/** Scratch storage in memory. */
export class MemoryScratch implements Scratch {
  readonly files = new Map<number, Uint8Array>();

  write(file: number, bytes: Uint8Array): Promise<void> {
    if (this.files.has(file)) throw new Error(`file ${file} is written twice`);
    this.files.set(file, bytes);
    return Promise.resolve();
  }

  read(file: number, start: number, end: number): Promise<Uint8Array> {
    const bytes = this.files.get(file);
    if (!bytes || end > bytes.length) throw new Error(`read of ${start} to ${end} of ${file}`);
    return Promise.resolve(bytes.slice(start, end));
  }
}

/** Makes a reader of the given objects. */
export function makeReader(objects: ReadonlyMap<string, StoredObject>): ObjectReader {
  return { readObject: (oid) => Promise.resolve(objects.get(oid)) };
}
