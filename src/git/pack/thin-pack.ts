import { type Budget, giveWay, runInTurns, UNLIMITED } from "../budget.ts";
import type { Codec, Hash } from "../codec.ts";
import { corrupt, missing, overLimit } from "../error.ts";
import { crc32 } from "../hash/crc32.ts";
import { KIND_CODES } from "../object/kind.ts";
import { formatOid, type Oid, OID_BYTES, writeOid } from "../oid.ts";
import type { ByteSource, EntryRange, ObjectReader, StoredChain } from "../store.ts";
import { formatEntryHeader, readEntryHeader, REF_DELTA } from "./entry-header.ts";
import { deflateInParts } from "../zlib/deflate-parts.ts";
import { findOid, sortByOid } from "./oid-order.ts";
import { formatPackHeader, PACK_HEADER_BYTES } from "./pack-scanner.ts";
import type { PackTable } from "./pack-table.ts";

/** Steps to copy and hash a byte of a pack, and to look up a base. */
const STEPS = { copiedByte: 0.2, base: 100 } as const;

/** Size of the pieces in which the stored pack is copied, in bytes. */
const COPY_BYTES = 1024 * 1024;

/** Maximum size of an entry header with its base, in bytes. */
const HEADER_BYTES_MAX = 64;

/**
 * Completes a thin pack: the same entries, followed by the missing bases.
 *
 * Only a complete pack can be stored, because git looks for the base of a delta in the same pack.
 */
export class ThinPackCompletion {
  /** The new pack's trailing hash in hex, set once `bytes` has been read to its end. */
  checksum = "";
  /** Size of the new pack in bytes, set likewise. */
  sizeBytes = 0;
  private readonly hash: Hash;
  private readonly source: ByteSource;
  private readonly table: PackTable;
  private readonly externalOids: readonly Oid[];
  private readonly bases: ObjectReader;
  private readonly codec: Codec;
  private readonly budget: Budget;

  /**
   * @param table Receives one more entry for each appended base.
   * @param externalOids The missing bases, from `ResolveReport`.
   */
  constructor(
    source: ByteSource,
    table: PackTable,
    externalOids: readonly Oid[],
    bases: ObjectReader,
    codec: Codec,
    budget: Budget = UNLIMITED,
  ) {
    this.budget = budget;
    this.source = source;
    this.table = table;
    this.externalOids = externalOids;
    this.bases = bases;
    this.codec = codec;
    this.hash = codec.createSha1();
  }

  /**
   * Yields the bytes of the new pack. Cost: one read of the stored pack, with one piece in memory
   * at a time.
   *
   * @throws GitError `missing` if a base no longer exists.
   */
  async *bytes(): AsyncGenerator<Uint8Array> {
    const { table } = this;
    const appended = await this.listAppended();
    yield this.count(formatPackHeader(table.count + appended.length));
    const bodyEnd = table.offset(table.count);
    for (let at = PACK_HEADER_BYTES; at < bodyEnd; at += COPY_BYTES) {
      yield this.count(await this.source.read(at, Math.min(bodyEnd, at + COPY_BYTES)));
      await giveWay(this.budget, STEPS.copiedByte * COPY_BYTES);
    }
    for (const { oid, stored } of appended) {
      if (stored) {
        yield* this.copy(oid, stored);
        continue;
      }
      const found = await this.bases.readObject(oid);
      if (!found) throw missing(`base ${oid}`);
      const header = formatEntryHeader(KIND_CODES[found.kind], found.content.length);
      const data = await runInTurns(deflateInParts(found.content, this.codec), this.budget);
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

  /** Copies an entry of another pack. A delta refers to its base by id. */
  private async *copy(oid: Oid, stored: StoredEntry): AsyncGenerator<Uint8Array> {
    const { table } = this;
    const { source, start, end } = stored;
    const front = await source.read(start, Math.min(end, start + HEADER_BYTES_MAX));
    const old = readEntryHeader(front, 0);
    if (!old) throw corrupt("pack: entry cut off");
    const type = stored.base === undefined ? stored.kind : REF_DELTA;
    const header = formatEntryHeader(type, old.sizeBytes);
    const entry = table.add(type, this.sizeBytes, stored.sizeBytes);
    table.kinds[entry] = stored.kind;
    writeOid(oid, table.oids, entry * OID_BYTES);
    let crc = crc32(header);
    yield this.count(header);
    if (stored.base) {
      table.bases[entry] = stored.base.entry;
      const baseOid = new Uint8Array(OID_BYTES);
      writeOid(stored.base.oid, baseOid);
      crc = crc32(baseOid, 0, OID_BYTES, crc);
      yield this.count(baseOid);
    }
    for (let at = start + old.next; at < end; at += COPY_BYTES) {
      const piece = await source.read(at, Math.min(end, at + COPY_BYTES));
      crc = crc32(piece, 0, piece.length, crc);
      yield this.count(piece);
      await giveWay(this.budget, STEPS.copiedByte * piece.length);
    }
    table.crcs[entry] = crc;
  }

  private count(bytes: Uint8Array): Uint8Array {
    this.hash.update(bytes);
    this.sizeBytes += bytes.length;
    return bytes;
  }

  /**
   * Lists the entries to append. An external base that the pack contains as a delta is skipped: no
   * object may be in a pack twice. A large base is copied as stored, together with the bases of its
   * own chain.
   */
  private async listAppended(): Promise<Appended[]> {
    const { table, externalOids } = this;
    const { count } = table;
    const order = await runInTurns(sortByOid(table.oids, count), this.budget);
    const appendedEntries = new Map<Oid, number>();
    const appended: Appended[] = [];
    const raw = new Uint8Array(OID_BYTES);
    const find = (oid: Oid): number => {
      writeOid(oid, raw);
      return appendedEntries.get(oid) ?? findOid(table.oids, order, raw);
    };
    const add = (oid: Oid): Appended => {
      const each: Appended = { oid };
      appendedEntries.set(oid, count + appended.length);
      appended.push(each);
      return each;
    };
    const place = (external: Oid, chain: StoredChain | undefined): number => {
      const known = find(external);
      if (known >= 0) return known;
      const newEntry = count + appended.length;
      if (!chain) {
        add(external);
        return newEntry;
      }
      let last: StoredEntry | undefined;
      // From the object down to its last base: an entry that was appended before has its own bases
      // already.
      for (const entry of chain.entries.toReversed()) {
        const found = find(entry.oid);
        // SECURITY: the entry in the pack itself may be a delta of this very object, which would
        // form a cycle.
        if (found >= 0 && found < count) throw overLimit("pack: base of a large object again");
        if (last)
          last.base = { entry: found >= 0 ? found : count + appended.length, oid: entry.oid };
        if (found >= 0) break;
        const each = add(entry.oid);
        last = { ...entry, kind: KIND_CODES[chain.kind] };
        each.stored = last;
      }
      return newEntry;
    };
    const bases: number[] = [];
    for (const oid of externalOids) {
      bases.push(place(oid, await this.bases.findLarge?.(oid)));
      await giveWay(this.budget, STEPS.base);
    }
    for (let entry = 0; entry < count; entry++) {
      const base = table.bases[entry] as number;
      if (base >= count) table.bases[entry] = bases[base - count] as number;
    }
    return appended;
  }
}

/** An entry of another pack that is copied. */
interface StoredEntry extends EntryRange {
  readonly kind: number;
  readonly sizeBytes: number;
  /** The base of a delta: its entry in the new pack, and its id. */
  base?: { readonly entry: number; readonly oid: Oid };
}

interface Appended {
  readonly oid: Oid;
  stored?: StoredEntry;
}
