import { type ByteText, byteTextBytes, encodeUtf8 } from "../git/byte-text.ts";
import { Patience } from "../lib/foreground.ts";
import { formatHex } from "../lib/hex.ts";
import { logBug } from "../lib/log.ts";
import { readPieces } from "../lib/read-pieces.ts";
import { StepBudget } from "../lib/step-budget.ts";
import type { FileCache } from "./bucket.ts";
import { LruCache } from "../lib/lru-cache.ts";

/**
 * Bumped when the meaning of cached results changes, so that results of older code are not read.
 */
const VERSION = 5;

/** The first character of a cached result. */
const COMPLETE = "+";
const INCOMPLETE = "-";
/** Incomplete, and a request that tried to continue it got no further within its budget. */
const STUCK = "!";

/** The longest result that is cached, in characters of its JSON. */
const CHARS_MAX = 1024 * 1024;

/** The longest text that is cached after it was sent piece by piece, in bytes. */
const TEXT_BYTES_MAX = 16 * 1024 * 1024;

/** The longest result that is cached as the bytes that a caller has made. */
export const ENTRY_BYTES_MAX = 16 * 1024 * 1024;
/** The longest of them that the isolate's own cache has, too. */
const RECENT_ENTRY_BYTES_MAX = 4 * 1024 * 1024;
/** Size of the pieces in which they are read, in bytes. */
const ENTRY_PIECE_BYTES = 256 * 1024;

/** The smallest piece of a text that is sent by itself, in bytes. */
const PIECE_BYTES = 64 * 1024;

/** The isolate's own cache, bounded in bytes. */
const recent = new LruCache<string>(4 * 1024 * 1024);
/** The same for texts. */
const recentTexts = new LruCache<Uint8Array>(8 * 1024 * 1024);

/** Steps that computing one result may take: about 0.6 s of processor time. */
export const RESULT_STEPS_MAX = 80_000_000;

/** Steps of a part of a result that is continued after the response, and how many parts follow. */
const PART_STEPS = 40_000_000;
const PARTS_MAX = 6;
/** Results that the isolate continues at once: others wait for their next request. */
const CONTINUED_MAX = 2;
/** For how long a continued result lets requests come first, in milliseconds. */
const PATIENCE_MS = 5000;
/** For how long work may go on after a response: then the platform ends it, in milliseconds. */
const CONTINUED_MS = 30_000;

/** When the results that the isolate is continuing were begun, by name, in milliseconds. */
const continued = new Map<string, number>();

/** Whether the isolate is continuing a result. */
const isContinued = (name: string): boolean =>
  Date.now() - (continued.get(name) ?? -Infinity) < CONTINUED_MS;

/** The part of the request that computing results needs. */
export interface ResultWork {
  /**
   * @param patience Of work that nobody waits for. Without it, the work ends when the caller
   *   leaves.
   */
  openBudget(stepsMax: number, patience?: Patience): StepBudget;
  /** Continues work after the response is sent; undefined where nothing does. */
  readonly defer?: ((work: Promise<unknown>) => void) | undefined;
  /**
   * Receives the kind of each result, computed or cached, that is incomplete because it exceeded
   * its budget.
   */
  onIncomplete(kind: string): void;
}

const UNCOUNTED: ResultWork = {
  openBudget: (stepsMax) => new StepBudget(stepsMax),
  onIncomplete: () => {},
};

/** Everything that determines a result: its kind in words, then oids and parameters. */
export type ResultKey = readonly [kind: string, ...parts: unknown[]];

/** The cached bytes of a result that the caller makes itself. */
export interface ResultEntry {
  /** Undefined if they are not cached. */
  readonly pieces: AsyncGenerator<Uint8Array> | undefined;
  /** Caches them, at most `ENTRY_BYTES_MAX`. The caller must not modify them any more. */
  readonly keep: (bytes: Uint8Array) => void;
}

/** Computes a result from the incomplete one of an earlier request, if there is one. */
type Continuation<T> = (budget: StepBudget, known: T | undefined) => Promise<T>;

/** Copies of the pieces of a text: who sends one may take its buffer. */
async function* piecesOf(text: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < text.length; start += PIECE_BYTES) {
    yield text.slice(start, start + PIECE_BYTES);
  }
}

/**
 * Cached results computed from the git data of one repository, in the isolate and in the file
 * cache.
 *
 * Each result is computed within a budget of steps. As steps depend on the input alone, an
 * incomplete result is the same at every attempt, and it is cached like a complete one; or each
 * request continues where the one before it ended.
 *
 * SECURITY: the key contains the name of the repository's Durable Object, which is never reused for
 * another repository, and the oids from which the result follows. The calling code must check first
 * that the caller may read the repository and that its refs still reach these objects.
 */
export class ResultCache {
  private readonly cache: FileCache;
  private readonly objectName: string;
  private readonly work: ResultWork;

  constructor(cache: FileCache, objectName: string, work: ResultWork = UNCOUNTED) {
    this.cache = cache;
    this.objectName = objectName;
    this.work = work;
  }

  /**
   * Returns the cached result, or computes and caches it.
   *
   * @param key     The result must not depend on the caller or the database.
   * @param compute Returns a value that survives JSON. It counts its work in the budget and ends
   * with what it has once the budget is exhausted; all objects are read within it.
   */
  async getOrCompute<T>(key: ResultKey, compute: (budget: StepBudget) => Promise<T>): Promise<T> {
    const name = await this.nameOf(key);
    const cached = recent.get(name) ?? (await this.read(name));
    if (cached !== undefined) {
      if (cached.startsWith(INCOMPLETE)) this.work.onIncomplete(key[0]);
      return JSON.parse(cached.slice(1)) as T;
    }
    const { value, mark } = await this.compute(key, compute);
    this.store(name, mark + JSON.stringify(value));
    return value;
  }

  /**
   * Like `getOrCompute`, for a result whose computation can be continued: a request that finds it
   * incomplete spends another budget on it. One that gets no further is the last to try.
   *
   * @param compute  Receives the incomplete result, which contains whatever it needs to continue.
   * @param stepsMax Fewer than a result may take are for a caller who does not wait for all of it:
   *   the rest is continued after the response, in parts, each of which is cached. Meanwhile, such
   *   callers get the last part.
   */
  async getOrContinue<T>(
    key: ResultKey,
    compute: Continuation<T>,
    stepsMax = RESULT_STEPS_MAX,
  ): Promise<T> {
    const name = await this.nameOf(key);
    const cached = recent.get(name) ?? (await this.read(name));
    if (cached?.startsWith(STUCK)) this.work.onIncomplete(key[0]);
    if (cached !== undefined && !cached.startsWith(INCOMPLETE)) {
      return JSON.parse(cached.slice(1)) as T;
    }
    const isContinuedLater = stepsMax < RESULT_STEPS_MAX;
    if (cached !== undefined && isContinuedLater && isContinued(name)) {
      this.work.onIncomplete(key[0]);
      return JSON.parse(cached.slice(1)) as T;
    }
    const budget = this.work.openBudget(stepsMax);
    const { value, text } = await this.advance(name, compute, cached, budget);
    if (budget.wasExceeded) this.work.onIncomplete(key[0]);
    if (isContinuedLater && text.startsWith(INCOMPLETE)) {
      this.work.defer?.(this.continueLater(name, compute, text));
    }
    return value;
  }

  /** Spends a budget on a result, and caches how far it got. */
  private async advance<T>(
    name: string,
    compute: Continuation<T>,
    cached: string | undefined,
    budget: StepBudget,
  ): Promise<{ value: T; text: string }> {
    const knownText = cached?.slice(1);
    const known = knownText === undefined ? undefined : (JSON.parse(knownText) as T);
    const value = await compute(budget, known);
    const valueText = JSON.stringify(value);
    const mark = budget.wasExceeded ? INCOMPLETE : COMPLETE;
    const text = (valueText === knownText ? STUCK : mark) + valueText;
    this.store(name, text);
    return { value, text };
  }

  /**
   * Continues a result that nobody waits for, after the requests that are under way. What an
   * isolate does not finish is continued by the next request from the last part that is cached.
   */
  private async continueLater<T>(
    name: string,
    compute: Continuation<T>,
    begun: string,
  ): Promise<void> {
    for (const each of continued.keys()) if (!isContinued(each)) continued.delete(each);
    if (continued.has(name) || continued.size >= CONTINUED_MAX) return;
    continued.set(name, Date.now());
    const patience = new Patience(PATIENCE_MS);
    try {
      let text = begun;
      for (let part = 0; part < PARTS_MAX; part++) {
        if (!text.startsWith(INCOMPLETE) || text.length > 1 + CHARS_MAX) break;
        await patience.untilIdle();
        const budget = this.work.openBudget(PART_STEPS, patience);
        ({ text } = await this.advance(name, compute, text, budget));
      }
    } catch (error) {
      logBug("result", error);
    } finally {
      continued.delete(name);
    }
  }

  private store(name: string, text: string): void {
    if (text.length > 1 + CHARS_MAX) return;
    recent.set(name, text, 2 * text.length);
    this.cache.put(name, encodeUtf8(text));
  }

  /**
   * Like `getOrCompute`, for a text of any length, which is cached as its bytes. The caller must
   * not modify them.
   */
  async getOrComputeText(
    key: ResultKey,
    compute: (budget: StepBudget) => Promise<ByteText>,
  ): Promise<Uint8Array> {
    const name = await this.nameOf(key);
    const cached = recentTexts.get(name) ?? (await this.cache.get(name));
    if (cached) {
      recentTexts.set(name, cached, cached.length);
      if (cached[0] === INCOMPLETE.charCodeAt(0)) this.work.onIncomplete(key[0]);
      return cached.subarray(1);
    }
    const { value, mark } = await this.compute(key, compute);
    const bytes = byteTextBytes((mark + value) as ByteText);
    recentTexts.set(name, bytes, bytes.length);
    this.cache.put(name, bytes);
    return bytes.subarray(1);
  }

  /** Finds the bytes of a result, or where to keep them once they are made. */
  async find(key: ResultKey): Promise<ResultEntry> {
    const name = await this.nameOf(key);
    const keep = (bytes: Uint8Array): void => {
      if (bytes.length > ENTRY_BYTES_MAX) return;
      if (bytes.length <= RECENT_ENTRY_BYTES_MAX) recentTexts.set(name, bytes, bytes.length);
      this.cache.put(name, bytes);
    };
    const recentBytes = recentTexts.get(name);
    if (recentBytes) return { pieces: piecesOf(recentBytes), keep };
    const cached = await this.cache.open(name);
    return { pieces: cached && readPieces(cached, ENTRY_PIECE_BYTES), keep };
  }

  /**
   * Like `getOrComputeText`, for a text that is sent while it is computed. One of more than 16 MB
   * is not cached.
   *
   * What refuses the text altogether is thrown before this returns: its first piece is computed
   * then.
   *
   * @param compute Yields the pieces of the text, of any size.
   */
  async streamText(
    key: ResultKey,
    compute: (budget: StepBudget) => AsyncGenerator<ByteText>,
    stepsMax = RESULT_STEPS_MAX,
  ): Promise<AsyncGenerator<Uint8Array>> {
    const name = await this.nameOf(key);
    const cached = recentTexts.get(name) ?? (await this.cache.get(name));
    if (cached) {
      recentTexts.set(name, cached, cached.length);
      if (cached[0] === INCOMPLETE.charCodeAt(0)) this.work.onIncomplete(key[0]);
      return piecesOf(cached.subarray(1));
    }
    const budget = this.work.openBudget(stepsMax);
    const pieces = compute(budget);
    const first = await pieces.next();
    return this.sendAndStore(key, name, first, pieces, budget);
  }

  private async *sendAndStore(
    [kind]: ResultKey,
    name: string,
    first: IteratorResult<ByteText>,
    pieces: AsyncGenerator<ByteText>,
    budget: StepBudget,
  ): AsyncGenerator<Uint8Array> {
    let whole: string | undefined = "";
    let unsent = "";
    try {
      for (let next = first; !next.done; next = await pieces.next()) {
        unsent += next.value;
        if (unsent.length < PIECE_BYTES) continue;
        whole = whole !== undefined && whole.length <= TEXT_BYTES_MAX ? whole + unsent : undefined;
        yield byteTextBytes(unsent as ByteText);
        unsent = "";
      }
    } finally {
      await pieces.return(undefined);
    }
    if (budget.wasExceeded) this.work.onIncomplete(kind);
    if (whole !== undefined) {
      const mark = budget.wasExceeded ? INCOMPLETE : COMPLETE;
      const bytes = byteTextBytes(`${mark}${whole}${unsent}` as ByteText);
      recentTexts.set(name, bytes, bytes.length);
      this.cache.put(name, bytes);
    }
    yield byteTextBytes(unsent as ByteText);
  }

  private async compute<T>(
    [kind]: ResultKey,
    compute: (budget: StepBudget) => Promise<T>,
  ): Promise<{ value: T; mark: string }> {
    const budget = this.work.openBudget(RESULT_STEPS_MAX);
    const value = await compute(budget);
    if (budget.wasExceeded) this.work.onIncomplete(kind);
    return { value, mark: budget.wasExceeded ? INCOMPLETE : COMPLETE };
  }

  private async nameOf(key: ResultKey): Promise<string> {
    const keyText = encodeUtf8(JSON.stringify([VERSION, this.objectName, ...key]));
    const digest = await crypto.subtle.digest("SHA-256", keyText as Uint8Array<ArrayBuffer>);
    return `answers/${this.objectName}/${formatHex(new Uint8Array(digest))}`;
  }

  private async read(name: string): Promise<string | undefined> {
    const bytes = await this.cache.get(name);
    if (!bytes) return undefined;
    const text = new TextDecoder().decode(bytes);
    recent.set(name, text, 2 * text.length);
    return text;
  }
}
