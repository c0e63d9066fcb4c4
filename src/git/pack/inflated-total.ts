import { overLimit } from "../error.ts";
import type { PackLimits } from "./limits.ts";

/** Bytes that the objects of a pack of `packBytes` may have together. */
export const inflatedMax = (limits: PackLimits, packBytes: number): number =>
  Math.min(limits.inflatedBytesMax, limits.inflatedBytesFree + limits.inflatedRatioMax * packBytes);

/**
 * Adds up the sizes of a received pack's objects: of inflated entries, of what deltas make, and of
 * bases that are read for them. A pack of 100 KB can announce terabytes.
 *
 * SECURITY: sizes are added as they are announced, before anything of that size is inflated or
 * made.
 */
export class InflatedTotal {
  private readonly limits: PackLimits;
  private bytes = 0;
  private packBytes = 0;

  constructor(limits: PackLimits) {
    this.limits = limits;
  }

  /**
   * @param packBytes Bytes of the pack that have arrived; as before if not given.
   * @throws GitError `limit` if all that was added is too much for a pack of these bytes.
   */
  add(bytes: number, packBytes = this.packBytes): void {
    this.bytes += bytes;
    this.packBytes = packBytes;
    const max = inflatedMax(this.limits, packBytes);
    if (this.bytes <= max) return;
    throw overLimit(
      `the pack's objects have more than ${max} bytes together: a pack of its size may have no more`,
    );
  }
}
