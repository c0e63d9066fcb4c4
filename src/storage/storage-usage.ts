import type { Gauge } from "../git/store.ts";

/** What a request asks of storage and holds in memory for it. */
export class StorageUsage {
  r2Calls = 0;
  /** The longest chain of calls to the bucket that waited for one another. */
  r2Rounds = 0;
  objectCalls = 0;
  /**
   * Most bytes held at once, as the code itself counts them: parts and reads under way, contents of
   * objects, and the tables of packs. What the language takes for its own objects is not in it.
   */
  bufferedBytesPeak = 0;
  private heldBytes = 0;
  private r2RoundsDone = 0;

  /** The fields of the line. */
  counts() {
    const { r2Calls, r2Rounds, objectCalls, bufferedBytesPeak } = this;
    return { r2Calls, r2Rounds, objectCalls, bufferedBytesPeak };
  }

  /** Counts a call to the bucket that begins; what is returned is called as it ends. */
  beginR2(): () => void {
    this.r2Calls++;
    // A call waits for all that had answered when it was sent, and for nothing else.
    const round = this.r2RoundsDone + 1;
    this.r2Rounds = Math.max(this.r2Rounds, round);
    return () => {
      this.r2RoundsDone = Math.max(this.r2RoundsDone, round);
    };
  }

  /** Counts bytes that are held from now on, or given back if there are fewer than none. */
  hold(bytes: number): void {
    this.heldBytes += bytes;
    this.bufferedBytesPeak = Math.max(this.bufferedBytesPeak, this.heldBytes);
  }

  /** A gauge for one holder. */
  gauge(): Gauge {
    let held = 0;
    return (heldBytes) => {
      this.hold(heldBytes - held);
      held = heldBytes;
    };
  }
}
