import { tooManyRequests } from "../lib/failure.ts";

/**
 * Hashes that run or wait. One runs at a time, since it holds the isolate's only thread, and takes
 * about 90 ms: the last one waits for less than a second.
 */
const TURNS_MAX = 8;
/** How often a waiting request looks whether it is its turn, in milliseconds. */
const POLL_MS = 10;
/** How long the isolate answers other requests between two hashes, in milliseconds. */
const PAUSE_MS = 20;
/** How long a hash keeps its turn at most, in milliseconds. */
const TURN_MS = 10_000;
/** When a refused caller may try again. */
const RETRY_AFTER_SECONDS = 2;

/** A hash that runs or waits, and its result. */
interface Turn {
  readonly key: string;
  readonly expiresAt: number;
  result?: { readonly value: unknown };
}

/**
 * Bounds the password hashes of an isolate: one at a time, a short queue, and a refusal for the
 * rest. Without a bound a handful of callers would stop all others; with it, other requests are
 * answered between two hashes.
 *
 * A waiting request polls instead of being woken by the one before it. The platform drops a
 * cancelled request without running it any further, so a turn that was handed to it would be lost;
 * a turn that nobody takes expires. Callers let their request live until its turn is over.
 */
export class HashQueue {
  private turns: Turn[] = [];

  /**
   * Runs a hash when its turn comes.
   *
   * @param key Names the work: a concurrent call with the same key gets the result of the first
   *   one.
   * @throws Failure `too_many` if the queue is full.
   */
  async run<T>(key: string, hash: () => T): Promise<T> {
    const same = this.current().find((turn) => turn.key === key);
    if (same) return this.follow(same, hash);
    if (this.turns.length >= TURNS_MAX) {
      throw tooManyRequests(
        "too many passwords are being checked, try again soon",
        RETRY_AFTER_SECONDS,
      );
    }
    const turn: Turn = { key, expiresAt: Date.now() + TURN_MS };
    this.turns.push(turn);
    try {
      while (this.current().indexOf(turn) > 0) await scheduler.wait(POLL_MS);
      // Other requests that came during the hash before this one are answered first. The first wait
      // may end at once: the runtime's clock stood still while that hash ran.
      await scheduler.wait(0);
      await scheduler.wait(PAUSE_MS);
      const value = hash();
      turn.result = { value };
      return value;
    } finally {
      this.turns = this.turns.filter((each) => each !== turn);
    }
  }

  /**
   * Waits for the result of another request; runs the hash itself if the other request ended
   * without one.
   */
  private async follow<T>(turn: Turn, hash: () => T): Promise<T> {
    while (!turn.result && this.current().includes(turn)) await scheduler.wait(POLL_MS);
    return turn.result ? (turn.result.value as T) : this.run(turn.key, hash);
  }

  private current(): Turn[] {
    const now = Date.now();
    this.turns = this.turns.filter(({ expiresAt }) => expiresAt > now);
    return this.turns;
  }
}
