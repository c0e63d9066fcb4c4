import { z } from "zod";

const Tally = z.object({ passed: z.number(), failed: z.number(), skipped: z.number() });

/** How many tests of a run ended in which way. */
export type Tally = z.infer<typeof Tally>;

/** The line that closes a run: `12 passed, 0 failed`, and `, 3 skipped` if any were. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped > 0 ? `${line}, ${skipped} skipped` : line;
}

/** @returns undefined for anything but what JSON.stringify makes of a tally. */
export function parseTally(json: string): Tally | undefined {
  try {
    return Tally.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}
