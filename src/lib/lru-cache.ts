/** Approximate bytes of an entry besides its value: the key, and the objects that hold the two. */
const ENTRY_BYTES = 256;

/**
 * A cache bounded in bytes that evicts the least recently used values. A value over the bound is
 * not stored.
 */
export class LruCache<T> {
  /** Bytes of all cached entries. */
  heldBytes = 0;
  private readonly values = new Map<string, { value: T; bytes: number }>();
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get(key: string): T | undefined {
    const found = this.values.get(key);
    if (!found) return undefined;
    this.values.delete(key);
    this.values.set(key, found);
    return found.value;
  }

  /** @param valueBytes Bytes of the value. */
  set(key: string, value: T, valueBytes: number): void {
    const bytes = valueBytes + ENTRY_BYTES;
    if (bytes > this.bytesMax) return;
    this.heldBytes += bytes - (this.values.get(key)?.bytes ?? 0);
    this.values.delete(key);
    this.values.set(key, { value, bytes });
    for (const [oldest, held] of this.values) {
      if (this.heldBytes <= this.bytesMax) break;
      this.values.delete(oldest);
      this.heldBytes -= held.bytes;
    }
  }
}
