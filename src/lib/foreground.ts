// Requests and the jobs behind them share the thread of an isolate. Whoever waits for an answer comes first.

/** How often a job looks whether a request is still under way, in milliseconds. */
const LOOK_MS = 1;

/** Requests of this isolate that have no response yet. */
const open = { requests: 0 };

/** Counts a request until it has a response. */
export async function inForeground<T>(respond: () => T | Promise<T>): Promise<T> {
  open.requests += 1;
  try {
    return await respond();
  } finally {
    open.requests -= 1;
  }
}

/** The time for which the jobs of a batch let requests of the isolate come first. */
export class Patience {
  #leftMs: number;

  /** @param ms In milliseconds, for all its waits together: a request may take long, and there may always be one. */
  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** Waits until no request is under way, as far as its time goes. By a timer: no request may wake up another. */
  readonly untilIdle = async (): Promise<void> => {
    while (open.requests > 0 && this.#leftMs > 0) {
      this.#leftMs -= LOOK_MS;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
}
