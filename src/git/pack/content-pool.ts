/** Smallest buffer, in bytes. */
const CAPACITY_MIN = 256;
/** Contents longer than this have buffers of their own. */
const CONTENT_BYTES_MAX = 256 * 1024;
/** Maximum bytes of buffers that wait to be used again. */
const SPARE_BYTES_MAX = 2 * 2 ** 20;

/**
 * Buffers of contents, used again once a content is dropped: a pack of some megabytes resolves to a
 * hundred megabytes of contents, of which only few are needed at once, and each new buffer costs
 * more than copying a content into it.
 */
export class ContentPool {
  private readonly spare = new Map<number, ArrayBuffer[]>();
  /** All buffers of this pool: others may have further views. */
  private readonly own = new WeakSet<ArrayBufferLike>();
  private spareBytes = 0;

  /** Bytes of the buffers that wait to be used again. */
  get heldBytes(): number {
    return this.spareBytes;
  }

  /** Returns memory for a content, whose bytes are arbitrary. */
  take(length: number): Uint8Array {
    if (length > CONTENT_BYTES_MAX) return new Uint8Array(length);
    const capacity = capacityOf(length);
    const used = this.spare.get(capacity)?.pop();
    if (used) {
      this.spareBytes -= capacity;
      return new Uint8Array(used, 0, length);
    }
    const buffer = new ArrayBuffer(capacity);
    this.own.add(buffer);
    return new Uint8Array(buffer, 0, length);
  }

  /**
   * Takes back the memory of a content, which nothing may refer to any more. Ignores memory that is
   * not of this pool.
   */
  give({ buffer }: Uint8Array): void {
    const capacity = buffer.byteLength;
    if (!this.own.has(buffer) || this.spareBytes + capacity > SPARE_BYTES_MAX) return;
    const buffers = this.spare.get(capacity);
    if (buffers) buffers.push(buffer as ArrayBuffer);
    else this.spare.set(capacity, [buffer as ArrayBuffer]);
    this.spareBytes += capacity;
  }
}

/** Size of the buffer of a content: at most a quarter more, or `CAPACITY_MIN`. */
export function capacityOf(length: number): number {
  if (length <= CAPACITY_MIN) return CAPACITY_MIN;
  if (length > CONTENT_BYTES_MAX) return length;
  // Four sizes to each power of two.
  const step = 1 << (29 - Math.clz32(length - 1));
  return Math.ceil(length / step) * step;
}
