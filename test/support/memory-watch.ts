import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of all reachable buffers of this isolate. */
function measure(): number {
  // The first collection finds the garbage, the second one frees it.
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

/**
 * Minimum time between measurements, in milliseconds: one takes longer than most of the measured
 * steps.
 */
const PAUSE_MS = 50;

/** Records the peak of buffer memory above the level at the start. */
export class MemoryWatch {
  peakBytes = 0;
  private readonly idleBytes: number;
  private lookedAt = 0;

  private constructor(idleBytes: number) {
    this.idleBytes = idleBytes;
  }

  /** Starts once earlier buffers are freed. */
  static async make(): Promise<MemoryWatch> {
    let idleBytes = measure();
    for (let quiet = 0; quiet < 3;) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const bytes = measure();
      quiet = bytes < idleBytes ? 0 : quiet + 1;
      idleBytes = bytes;
    }
    return new MemoryWatch(idleBytes);
  }

  /** Measures now. Cost: a full garbage collection, some milliseconds. */
  look(): void {
    this.peakBytes = Math.max(this.peakBytes, measure() - this.idleBytes);
    this.lookedAt = performance.now();
  }

  /** Measures, unless the last measurement is less than `PAUSE_MS` ago. */
  glance(): void {
    if (performance.now() - this.lookedAt > PAUSE_MS) this.look();
  }
}
