const MODULUS = 65521;
/**
 * Bytes between two reductions: few enough that the sums stay below 2^31, where JavaScript engines
 * keep them as integers.
 */
const STRIDE_BYTES = 3800;

/**
 * Continues an Adler-32 checksum over bytes `start` to `end`.
 *
 * @param adler The value so far, 1 at the beginning.
 * @returns A signed 32-bit value: compare two of them with `===`.
 * @see RFC 1950, section 9.
 */
export function adler32(bytes: Uint8Array, start: number, end: number, adler: number): number {
  let low = adler & 0xffff;
  let high = adler >>> 16;
  let at = start;
  while (at < end) {
    const stop = Math.min(end, at + STRIDE_BYTES);
    for (; at < stop; at++) {
      low += bytes[at] as number;
      high += low;
    }
    low %= MODULUS;
    high %= MODULUS;
  }
  return (high << 16) | low;
}
