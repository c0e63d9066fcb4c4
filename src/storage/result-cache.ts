import { encodeUtf8 } from "../git/byte-text.ts";
import { formatHex } from "../lib/hex.ts";
import type { FileCache } from "./bucket.ts";
import { LruCache } from "./lru-cache.ts";

/** Bumped when the meaning of cached results changes, so that results of older code are not read. */
const VERSION = 1;

/** The longest result that is cached, in characters of its JSON. */
const CHARS_MAX = 1024 * 1024;

/** The isolate's own cache, bounded in bytes. */
const recent = new LruCache<string>(4 * 1024 * 1024);

/**
 * Cached results computed from the git data of one repository, in the isolate and in the file cache.
 *
 * SECURITY: the key contains the name of the repository's Durable Object, which is never reused for
 * another repository, and the oids from which the result follows. The calling code must check first that
 * the caller may read the repository and that its refs still reach these objects.
 */
export class ResultCache {
  private readonly cache: FileCache;
  private readonly objectName: string;

  constructor(cache: FileCache, objectName: string) {
    this.cache = cache;
    this.objectName = objectName;
  }

  /**
   * Returns the cached result, or computes and caches it.
   *
   * @param keyParts Everything that determines the result: its kind, oids, parameters. The result must not
   * depend on the caller or the database.
   * @param compute  Returns a value that survives JSON.
   */
  async getOrCompute<T>(keyParts: readonly unknown[], compute: () => Promise<T>): Promise<T> {
    const keyText = encodeUtf8(JSON.stringify([VERSION, this.objectName, ...keyParts]));
    const digest = await crypto.subtle.digest("SHA-256", keyText as Uint8Array<ArrayBuffer>);
    const key = `answers/${this.objectName}/${formatHex(new Uint8Array(digest))}`;
    const cached = recent.get(key) ?? (await this.read(key));
    if (cached !== undefined) return JSON.parse(cached) as T;
    const result = await compute();
    const text = JSON.stringify(result);
    if (text.length <= CHARS_MAX) {
      recent.set(key, text, 2 * text.length);
      this.cache.put(key, encodeUtf8(text));
    }
    return result;
  }

  private async read(key: string): Promise<string | undefined> {
    const bytes = await this.cache.get(key);
    if (!bytes) return undefined;
    const text = new TextDecoder().decode(bytes);
    recent.set(key, text, 2 * text.length);
    return text;
  }
}
