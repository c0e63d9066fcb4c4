import type { Case } from "./cases.ts";
import type { Usage } from "./usage.ts";

/** The D1 usage of a case with small tables, and with full tables. */
export type Growth = { small: Usage; full: Usage };

/**
 * Below this scale, the small tables contain fewer matches of the common word than a search reads.
 */
export const CHECKED_SCALE_MIN = 0.25;

/**
 * Rows by which two requests of the same case may differ: another owner, another position in a
 * B-tree.
 */
const TOLERANCE_ROWS = 10;
const TOLERANCE = 1.05;

/** @returns A complaint if a case reads more rows from larger tables. */
export function findGrowthFault(
  { name, isDeep }: Case,
  { small, full }: Growth,
): string | undefined {
  const rowsMax = Math.max(small.rowsRead * TOLERANCE, small.rowsRead + TOLERANCE_ROWS);
  if (isDeep || full.rowsRead <= rowsMax) return undefined;
  return `${name}: reads ${full.rowsRead} rows of the full tables and ${small.rowsRead} of tables a tenth of their size`;
}
