import type { Codec, Hash } from "../codec.ts";
import { missing } from "../error.ts";
import { crc32 } from "../hash/crc32.ts";
import { KIND_CODES } from "../object/kind.ts";
import { formatOid, type Oid, OID_BYTES, writeOid } from "../oid.ts";
import type { ByteSource, ObjectReader } from "../store.ts";
import { formatEntryHeader } from "./entry-header.ts";
import { findOid, sortByOid } from "./oid-order.ts";
import { formatPackHeader, PACK_HEADER_BYTES } from "./pack-scanner.ts";
import type { PackTable } from "./pack-table.ts";

/** The stored pack is copied in pieces of this size, in bytes. */
const COPY_BYTES = 4 * 1024 * 1024;

/**
 * A thin pack made whole: the same entries, and behind them the bases that it left out.
 *
 * Only a whole pack can be stored, because git looks for the base of a delta in the same pack.
 */
export class ThinPackCompletion {
  /** The new pack's trailing hash in hex, once `bytes` has been read to its end. */
  checksum = "";
  /** Length of the new pack in bytes, likewise. */
  sizeBytes = 0;
  private readonly hash: Hash;
  private readonly source: ByteSource;
  private readonly table: PackTable;
  private readonly externalOids: readonly Oid[];
  private readonly bases: ObjectReader;
  private readonly codec: Codec;

  /** @param table Grows by one entry for each base. @param externalOids As resolving found them. */
  constructor(
    source: ByteSource,
    table: PackTable,
    externalOids: readonly Oid[],
    bases: ObjectReader,
    codec: Codec,
  ) {
    this.source = source;
    this.table = table;
    this.externalOids = externalOids;
    this.bases = bases;
    this.codec = codec;
    this.hash = codec.createSha1();
  }

  /**
   * The bytes of the new pack. Cost: one read of the old one, one piece in memory at a time.
   *
   * @throws GitError `missing` if a base is gone.
   */
  async *bytes(): AsyncGenerator<Uint8Array> {
    const { table } = this;
    const appended = this.withoutKnown();
    yield this.count(formatPackHeader(table.count + appended.length));
    const bodyEnd = table.offset(table.count);
    for (let at = PACK_HEADER_BYTES; at < bodyEnd; at += COPY_BYTES) {
      yield this.count(await this.source.read(at, Math.min(bodyEnd, at + COPY_BYTES)));
    }
    for (const oid of appended) {
      const found = await this.bases.readObject(oid);
      if (!found) throw missing(`base ${oid}`);
      const header = formatEntryHeader(KIND_CODES[found.kind], found.content.length);
      const data = this.codec.deflate(found.content);
      const entry = table.add(KIND_CODES[found.kind], this.sizeBytes, found.content.length);
      table.crcs[entry] = crc32(data, 0, data.length, crc32(header));
      writeOid(oid, table.oids, entry * OID_BYTES);
      yield this.count(header);
      yield this.count(data);
    }
    table.offsets[table.count] = this.sizeBytes;
    const trailer = this.hash.digest();
    this.sizeBytes += trailer.length;
    this.checksum = formatOid(trailer);
    yield trailer;
  }

  private count(bytes: Uint8Array): Uint8Array {
    this.hash.update(bytes);
    this.sizeBytes += bytes.length;
    return bytes;
  }

  /**
   * The bases to append. One that turned out to be in the pack after all, as a delta, is not: no
   * object may be there twice.
   */
  private withoutKnown(): Oid[] {
    const { table, externalOids } = this;
    const { count } = table;
    const order = sortByOid(table.oids, count);
    const places = new Int32Array(externalOids.length);
    const appended: Oid[] = [];
    const raw = new Uint8Array(OID_BYTES);
    for (const [index, oid] of externalOids.entries()) {
      writeOid(oid, raw);
      const known = findOid(table.oids, order, raw);
      places[index] = known >= 0 ? known : count + appended.length;
      if (known < 0) appended.push(oid);
    }
    for (let entry = 0; entry < count; entry++) {
      const base = table.bases[entry] as number;
      if (base >= count) table.bases[entry] = places[base - count] as number;
    }
    return appended;
  }
}
