import type { MirrorSettings } from "../../../config.ts";
import { formatGoDuration, parseGoDuration } from "../../../lib/go-duration.ts";

/**
 * Reads the interval of a mirror.
 *
 * @param text As Go writes durations; "0" for a mirror that no schedule synchronizes.
 * @returns Seconds, or the words of why it can't be the interval.
 */
export function readMirrorInterval(
  text: string,
  { minIntervalSeconds }: MirrorSettings,
): number | { readonly reason: string } {
  const seconds = parseGoDuration(text);
  if (seconds === undefined) return { reason: `time: invalid duration ${JSON.stringify(text)}` };
  if (seconds === 0 || seconds >= minIntervalSeconds) return seconds;
  return {
    reason: `the interval of a mirror must be at least ${formatGoDuration(minIntervalSeconds)}, or 0`,
  };
}
