import { nextTask } from "./next-task.ts";

// Requests and the jobs behind them share the thread of an isolate. A caller who waits for an
// answer comes first.

/** How often a job looks whether a request is still under way, in milliseconds. */
const LOOK_MS = 1;
/**
 * For how long no request may have been under way where a job waits for a quiet moment, in
 * milliseconds.
 */
const QUIET_MS = 10;

/** Requests of this isolate that have no response yet, and how many have ever begun. */
const open = { requests: 0, begun: 0 };

/** Counts a request until it has a response. */
export async function inForeground<T>(respond: () => T | Promise<T>): Promise<T> {
  open.requests += 1;
  open.begun += 1;
  try {
    return await respond();
  } finally {
    open.requests -= 1;
  }
}

/** The time for which the jobs of a batch let requests of the isolate come first. */
export class Patience {
  #leftMs: number;

  /**
   * @param ms In milliseconds, for all its waits together: a request may take long, and there may
   *   always be one.
   */
  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /**
   * Lets requests in that have arrived, and waits until none is under way, as far as its time goes.
   * By timers: no request may wake up another.
   */
  readonly untilIdle = async (): Promise<void> => {
    await nextTask();
    while (open.requests > 0 && this.#leftMs > 0) await this.#wait(LOOK_MS);
  };

  /**
   * Waits until no request has been under way for a moment, as far as its time goes. For work that
   * is as long as several requests: a client that sends one after the other leaves the isolate idle
   * between two of them.
   */
  readonly untilQuiet = async (): Promise<void> => {
    for (let isQuiet = false; !isQuiet && this.#leftMs > 0;) {
      const { begun } = open;
      await this.#wait(QUIET_MS);
      isQuiet = open.requests === 0 && open.begun === begun;
    }
  };

  async #wait(ms: number): Promise<void> {
    this.#leftMs -= ms;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
