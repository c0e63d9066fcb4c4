import { runNow, type Steps } from "../budget.ts";
import { corrupt } from "../error.ts";

/**
 * Steps after which a delta's application yields, where an instruction takes one and its bytes the
 * others.
 */
const PART_STEPS = 50_000;
const STEPS_PER_BYTE = 0.03;

/** The two sizes at the start of a delta, and the offset of its first instruction. */
export interface DeltaHeader {
  readonly baseBytes: number;
  readonly resultBytes: number;
  readonly next: number;
}

/**
 * Parses the sizes at the start of a delta.
 *
 * @returns Undefined if the header extends past `end`.
 * @see gitformat-pack(5), "Deltified representation".
 */
export function readDeltaHeader(delta: Uint8Array, end = delta.length): DeltaHeader | undefined {
  // Both sizes in one loop: a function for one of them would allocate the offset that they share.
  let baseBytes = -1;
  let size = 0;
  let scale = 1;
  for (let at = 0; at < end; at++) {
    const byte = delta[at] as number;
    size += (byte & 0x7f) * scale;
    // SECURITY: digits of 0 count too: their scale ends in a size that is no number.
    if (Math.max(size, scale) > Number.MAX_SAFE_INTEGER) throw corrupt("delta: size");
    scale *= 128;
    if ((byte & 0x80) !== 0) continue;
    if (baseBytes >= 0) return { baseBytes, resultBytes: size, next: at + 1 };
    baseBytes = size;
    size = 0;
    scale = 1;
  }
  return undefined;
}

/**
 * Applies `delta` to `base`.
 *
 * @param result Receives the object. Its length is the announced result size, which the caller has
 * checked against its limits before allocating.
 * @throws GitError `corrupt` if an instruction exceeds the base, the result or the delta, or if a
 * size differs from the announced one.
 */
export function applyDelta(
  base: Uint8Array,
  delta: Uint8Array,
  header: DeltaHeader,
  result: Uint8Array,
): void {
  runNow(applyInParts(base, delta, header, result));
}

/** `applyDelta` in parts. */
export function* applyInParts(
  base: Uint8Array,
  delta: Uint8Array,
  header: DeltaHeader,
  result: Uint8Array,
): Steps {
  if (header.baseBytes !== base.length) throw corrupt("delta: base of another size");
  const { length } = delta;
  let at = header.next;
  let to = 0;
  let steps = 0;
  while (at < length) {
    if (steps > PART_STEPS) {
      yield steps;
      steps = 0;
    }
    steps++;
    const code = delta[at++] as number;
    if (code & 0x80) {
      let from = 0;
      let size = 0;
      if (code & 0x01) from = delta[at++] as number;
      if (code & 0x02) from |= (delta[at++] as number) << 8;
      if (code & 0x04) from |= (delta[at++] as number) << 16;
      if (code & 0x08) from += (delta[at++] as number) * 0x1000000;
      if (code & 0x10) size = delta[at++] as number;
      if (code & 0x20) size |= (delta[at++] as number) << 8;
      if (code & 0x40) size |= (delta[at++] as number) << 16;
      if (size === 0) size = 0x10000;
      if (at > length || from + size > base.length || to + size > result.length) {
        throw corrupt("delta: copy out of bounds");
      }
      copy(base, from, result, to, size);
      to += size;
      steps += STEPS_PER_BYTE * size;
    } else {
      if (code === 0) throw corrupt("delta: reserved instruction");
      if (at + code > length || to + code > result.length) throw corrupt("delta: insert too long");
      copy(delta, at, result, to, code);
      at += code;
      to += code;
    }
  }
  yield steps;
  if (to !== result.length) throw corrupt("delta: result of another size");
}

/** Copies short ranges in a loop: creating a view costs more than copying thirty bytes. */
function copy(
  from: Uint8Array,
  fromOffset: number,
  to: Uint8Array,
  toOffset: number,
  length: number,
): void {
  if (length > 32) {
    to.set(from.subarray(fromOffset, fromOffset + length), toOffset);
  } else {
    for (let at = 0; at < length; at++) to[toOffset + at] = from[fromOffset + at] as number;
  }
}
