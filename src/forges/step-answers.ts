import type { RemoteFailureKind } from "../outgoing/remote-failure.ts";

/** The result of a request to a forge's API. */
export type StepAnswer =
  | {
      /** The JSON as it came: parsed, it might be too deep to be written again. */
      readonly text: string;
      readonly total?: number | undefined;
      readonly next?: string | undefined;
    }
  /** There is nothing for this caller. */
  | { readonly refusal: RemoteFailureKind; readonly message: string };

/** An answer as it is stored. */
export interface StoredAnswer {
  readonly url: string;
  /** JSON of a `StepAnswer`. */
  readonly answer: string;
}

/**
 * Bytes of one answer that is stored, since a bound value of D1 has 2 MB at most, and of all of
 * them.
 */
const ANSWER_BYTES_MAX = 1_800_000;
const ANSWERS_BYTES_MAX = 16_000_000;

const utf8 = new TextEncoder();
/** Bytes of a text within a bound value. */
const sizeOf = (text: string): number => utf8.encode(JSON.stringify(text)).length;

/**
 * The answers of a forge to the requests of one step.
 *
 * A step that a rate limit or a failure ends is repeated later. It reuses the answers of earlier
 * attempts, so that it makes progress however few requests the forge allows at a time.
 */
export class StepAnswers {
  private readonly earlier = new Map<string, string>();
  private readonly given = new Map<string, StepAnswer>();
  private bytes = 0;
  private receivedCount = 0;

  /** @param stored What `toStore` returned in all attempts before. */
  constructor(stored: readonly StoredAnswer[] = []) {
    for (const { url, answer } of stored) {
      this.earlier.set(url, answer);
      this.bytes += sizeOf(answer);
    }
  }

  /** Whether there are answers of attempts before. */
  get hasStored(): boolean {
    return this.bytes > 0;
  }

  /** How many answers the forge has given to this job. */
  get count(): number {
    return this.receivedCount;
  }

  /**
   * The answer of an attempt before; undefined if there is none. Once only: what is asked for again
   * is to be new.
   */
  take(url: string): StepAnswer | undefined {
    const stored = this.earlier.get(url);
    if (stored === undefined) return undefined;
    this.earlier.delete(url);
    return JSON.parse(stored) as StepAnswer;
  }

  /** Adds what the forge has just answered. */
  add(url: string, answer: StepAnswer): void {
    this.receivedCount++;
    this.given.set(url, answer);
  }

  /**
   * The answers of this attempt, to be stored besides the earlier ones. Answers that are too large
   * are left out and requested again.
   */
  toStore(): StoredAnswer[] {
    const stored: StoredAnswer[] = [];
    let { bytes } = this;
    for (const [url, given] of this.given) {
      const answer = JSON.stringify(given);
      const size = sizeOf(answer);
      if (size > ANSWER_BYTES_MAX || bytes + size > ANSWERS_BYTES_MAX) continue;
      bytes += size;
      stored.push({ url, answer });
    }
    return stored;
  }

  /** Forgets all: the step is done. */
  clear(): void {
    this.earlier.clear();
    this.given.clear();
    this.bytes = 0;
  }
}
