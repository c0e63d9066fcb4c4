import { formatOid, type Oid, OID_BYTES, writeOid } from "../oid.ts";

const START_IDS = 1024;
/** Growth factor of a full array. */
const GROWTH = 1.25;

/**
 * Assigns a small number to each object id, so that links between objects are stored as numbers.
 *
 * Cost: about 30 bytes per id. Slots are chosen by bytes of the id itself, which is a hash already;
 * a pusher can produce colliding ids only by trying, at one hash per attempt.
 */
export class OidPool {
  count = 0;
  /** Raw ids, 20 bytes each. Replaced when the pool grows. */
  oids = new Uint8Array(START_IDS * OID_BYTES);
  /** Number of an id plus one, 0 for a free slot. There are at least twice as many slots as ids. */
  private slots = new Uint32Array(START_IDS * 2);
  private readonly raw = new Uint8Array(OID_BYTES);

  /** Memory held in bytes. */
  get heldBytes(): number {
    return this.oids.length + this.slots.byteLength;
  }

  /** Returns the number of the raw id at `bytes[offset..]`, and adds the id if it is new. */
  add(bytes: Uint8Array, offset: number): number {
    const mask = this.slots.length - 1;
    let slot = this.slotOf(bytes, offset) & mask;
    for (let held = this.slots[slot] as number; held !== 0; held = this.slots[slot] as number) {
      if (this.isSame(held - 1, bytes, offset)) return held - 1;
      slot = (slot + 1) & mask;
    }
    const id = this.count++;
    if (this.count * OID_BYTES > this.oids.length) this.grow();
    const { oids } = this;
    for (let at = 0, own = id * OID_BYTES; at < OID_BYTES; at++) {
      oids[own + at] = bytes[offset + at] as number;
    }
    if (this.count * 2 > this.slots.length) this.rehash();
    else this.slots[slot] = this.count;
    return id;
  }

  addOid(oid: Oid): number {
    writeOid(oid, this.raw);
    return this.add(this.raw, 0);
  }

  /**
   * The same of an id of 40 lower-case hex digits at `digits[offset..]`, which the caller has
   * checked.
   */
  addHex(digits: Uint8Array, offset: number): number {
    const { raw } = this;
    for (let at = 0; at < OID_BYTES; at++) {
      const high = digits[offset + 2 * at] as number;
      const low = digits[offset + 2 * at + 1] as number;
      // The lower four bits of a letter count from 1.
      raw[at] = (((high & 15) + 9 * (high >> 6)) << 4) | ((low & 15) + 9 * (low >> 6));
    }
    return this.add(raw, 0);
  }

  oid(id: number): Oid {
    return formatOid(this.oids, id * OID_BYTES);
  }

  private slotOf(bytes: Uint8Array, offset: number): number {
    // The last bytes: ids that look alike are crafted to share their first bytes, which
    // abbreviations show.
    return (
      (bytes[offset + 16] as number) |
      ((bytes[offset + 17] as number) << 8) |
      ((bytes[offset + 18] as number) << 16) |
      ((bytes[offset + 19] as number) << 24)
    );
  }

  private isSame(id: number, bytes: Uint8Array, offset: number): boolean {
    const { oids } = this;
    for (let at = 0, own = id * OID_BYTES; at < OID_BYTES; at++) {
      if (oids[own + at] !== bytes[offset + at]) return false;
    }
    return true;
  }

  private grow(): void {
    const larger = new Uint8Array(Math.ceil(this.count * GROWTH) * OID_BYTES);
    larger.set(this.oids);
    this.oids = larger;
  }

  private rehash(): void {
    const slots = new Uint32Array(this.slots.length * 2);
    const mask = slots.length - 1;
    for (let id = 0; id < this.count; id++) {
      let slot = this.slotOf(this.oids, id * OID_BYTES) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.slots = slots;
  }
}
