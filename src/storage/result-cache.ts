import { encodeUtf8 } from "../git/byte-text.ts";
import { formatHex } from "../lib/hex.ts";
import type { FileCache } from "./bucket.ts";
import { LruCache } from "./lru-cache.ts";

/** Changes with the meaning of what is kept: what an older version of the code worked out is not read. */
const VERSION = 1;

/** The longest answer that is kept, in characters of its JSON. */
const CHARS_MAX = 1024 * 1024;

/** What the isolate keeps itself, in bytes. */
const recent = new LruCache<string>(4 * 1024 * 1024);

/**
 * What was worked out of the git data of one repository, kept in the isolate and near by.
 *
 * SECURITY: kept by the name of the repository's object, which no other repository is ever given, and
 * by the ids of the objects that it follows from. Whoever asks has judged before that the caller may
 * read the repository, and that its refs still reach those objects.
 */
export class ResultCache {
  private readonly cache: FileCache;
  private readonly objectName: string;

  constructor(cache: FileCache, objectName: string) {
    this.cache = cache;
    this.objectName = objectName;
  }

  /**
   * What `work` gives, or gave before.
   *
   * @param about All that the answer follows from: what is asked, the ids of objects, parameters.
   * Nothing about who asks, nor anything of the database.
   * @param work  Gives a value that survives JSON.
   */
  async getOrCompute<T>(about: readonly unknown[], work: () => Promise<T>): Promise<T> {
    const asked = encodeUtf8(JSON.stringify([VERSION, this.objectName, ...about]));
    const digest = await crypto.subtle.digest("SHA-256", asked as Uint8Array<ArrayBuffer>);
    const key = `answers/${this.objectName}/${formatHex(new Uint8Array(digest))}`;
    const known = recent.get(key) ?? (await this.read(key));
    if (known !== undefined) return JSON.parse(known) as T;
    const answer = await work();
    const text = JSON.stringify(answer);
    if (text.length <= CHARS_MAX) {
      recent.set(key, text, 2 * text.length);
      this.cache.put(key, encodeUtf8(text));
    }
    return answer;
  }

  private async read(key: string): Promise<string | undefined> {
    const bytes = await this.cache.get(key);
    if (!bytes) return undefined;
    const text = new TextDecoder().decode(bytes);
    recent.set(key, text, 2 * text.length);
    return text;
  }
}
