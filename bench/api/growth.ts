import type { Case } from "./cases.ts";
import type { Usage } from "./usage.ts";

/** What a case asks of D1 when the tables are small, and when they are full. */
export type Growth = { small: Usage; full: Usage };

/** Below it the small tables hold fewer matches of the common word than a search looks at. */
export const JUDGED_SCALE_MIN = 0.25;

/** Rows that differ between two requests of the same case: another owner, another place in a tree. */
const TOLERANCE_ROWS = 10;
const TOLERANCE = 1.05;

/** @returns A complaint where a case reads more rows because the tables are larger. */
export function judgeGrowth({ name, isDeep }: Case, { small, full }: Growth): string | undefined {
  const rowsMax = Math.max(small.rowsRead * TOLERANCE, small.rowsRead + TOLERANCE_ROWS);
  if (isDeep || full.rowsRead <= rowsMax) return undefined;
  return `${name}: reads ${full.rowsRead} rows of the full tables and ${small.rowsRead} of tables a tenth of their size`;
}
