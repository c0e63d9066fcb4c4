/** Values that were used lately, up to a total weight. What does not fit alone is not kept. */
export class LruCache<T> {
  /** Weight of all values. */
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

  set(key: string, value: T, bytes: number): void {
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
