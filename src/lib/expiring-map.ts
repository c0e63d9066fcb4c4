/**
 * A map bounded in entries, each of which counts until its own time. Over the bound, the oldest
 * entries go.
 */
export class ExpiringMap<T> {
  private readonly entries = new Map<string, { value: T; expiresAt: number }>();
  private readonly sizeMax: number;

  constructor(sizeMax: number) {
    this.sizeMax = sizeMax;
  }

  /** @param now In milliseconds. */
  get(key: string, now: number): T | undefined {
    return this.find(key, now)?.value;
  }

  /** When the entry of `key` expires, in milliseconds; undefined if there is none. */
  expiryOf(key: string, now: number): number | undefined {
    return this.find(key, now)?.expiresAt;
  }

  set(key: string, value: T, expiresAt: number): void {
    this.entries.delete(key);
    this.entries.set(key, { value, expiresAt });
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.sizeMax) break;
      this.entries.delete(oldest);
    }
  }

  private find(key: string, now: number) {
    const found = this.entries.get(key);
    if (!found || found.expiresAt > now) return found;
    this.entries.delete(key);
    return undefined;
  }
}
