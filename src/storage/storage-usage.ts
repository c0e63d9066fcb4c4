import type { Gauge } from "../git/store.ts";

/** Counts a request's calls to storage and the bytes it buffers for them. */
export class StorageUsage {
  r2Calls = 0;
  /** The longest chain of bucket calls of which each waited for the one before: round trips. */
  r2Rounds = 0;
  objectCalls = 0;
  /** Steps of computations, as their budgets count them. */
  steps = 0;
  /**
   * The kinds of derived results that exceeded their budget, so that the response is incomplete.
   */
  readonly incomplete = new Set<string>();
  /**
   * Peak of buffered bytes, as gauges count them: upload parts, running reads, object contents and
   * pack tables. The runtime's own overhead per object is not included.
   */
  bufferedBytesPeak = 0;
  private heldBytes = 0;
  private r2RoundsDone = 0;

  /** The fields for log lines. */
  counts() {
    const { r2Calls, r2Rounds, objectCalls, bufferedBytesPeak } = this;
    const steps = Math.round(this.steps);
    return { r2Calls, r2Rounds, objectCalls, bufferedBytesPeak, steps };
  }

  /** Counts the start of a bucket call. Call the returned function when it ends. */
  beginR2(): () => void {
    this.r2Calls++;
    // A call counts as waiting for every call that had ended when it was sent.
    const round = this.r2RoundsDone + 1;
    this.r2Rounds = Math.max(this.r2Rounds, round);
    return () => {
      this.r2RoundsDone = Math.max(this.r2RoundsDone, round);
    };
  }

  /** Counts buffered bytes; a negative number releases them. */
  hold(bytes: number): void {
    this.heldBytes += bytes;
    this.bufferedBytesPeak = Math.max(this.bufferedBytesPeak, this.heldBytes);
  }

  /** A gauge for one buffer: each call sets the bytes that the buffer holds now. */
  gauge(): Gauge {
    let held = 0;
    return (heldBytes) => {
      this.hold(heldBytes - held);
      held = heldBytes;
    };
  }
}
