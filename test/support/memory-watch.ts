import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of all buffers of this isolate that something still refers to. */
function measure(): number {
  // What the first finds, the second has given back.
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

/** Between two looks, in milliseconds: a look takes longer than most of what is looked at. */
const PAUSE_MS = 50;

/** Watches how much memory buffers take beyond what they took at first. */
export class MemoryWatch {
  peakBytes = 0;
  private readonly idleBytes: number;
  private lookedAt = 0;

  private constructor(idleBytes: number) {
    this.idleBytes = idleBytes;
  }

  /** Begins when all is freed that was used before. */
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

  /** Looks now. Cost: a full collection, some milliseconds. */
  look(): void {
    this.peakBytes = Math.max(this.peakBytes, measure() - this.idleBytes);
    this.lookedAt = performance.now();
  }

  /** Looks unless it did so just now. */
  glance(): void {
    if (performance.now() - this.lookedAt > PAUSE_MS) this.look();
  }
}
