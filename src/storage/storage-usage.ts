import type { Gauge } from "../git/store.ts";

/** What a request asks of storage and holds in memory for it. */
export class StorageUsage {
  r2Calls = 0;
  objectCalls = 0;
  /**
   * Most bytes held at once, as the code itself counts them: parts and reads under way, contents of
   * objects, and the tables of packs. What the language takes for its own objects is not in it.
   */
  bufferedBytesPeak = 0;
  private heldBytes = 0;

  /** The fields of the line. */
  counts(): { r2Calls: number; objectCalls: number; bufferedBytesPeak: number } {
    const { r2Calls, objectCalls, bufferedBytesPeak } = this;
    return { r2Calls, objectCalls, bufferedBytesPeak };
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
