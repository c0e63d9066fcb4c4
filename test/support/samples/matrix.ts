import type { Parameter, Schema } from "../operations.ts";
import { sampleOf, TAKES_ALL } from "../sample.ts";

/** The properties of a field or parameter that decide which values are sent. */
export interface MatrixField {
  name: string;
  /** Location of a parameter, such as `query`. */
  in?: string;
  schema: Schema;
}

/** Values that a usual run sends for the first field of a class. */
const VALUES = 4;

/**
 * Chooses the values to send for each field: a sample for the first field of a class, that is, of
 * one name and schema, and a single value, in rotation, for each further field of the class. All of
 * them in `npm run test:deep`.
 */
export function matrixOf<Value>(values: readonly Value[]) {
  const classes = new Set<string>();
  let turn = 0;
  return ({ name, in: where, schema }: MatrixField): readonly Value[] => {
    const key = JSON.stringify([name, where, { ...schema, description: undefined }]);
    if (TAKES_ALL || !classes.has(key)) {
      classes.add(key);
      return sampleOf(values, VALUES, key);
    }
    const at = turn++ % values.length;
    return values.slice(at, at + 1);
  };
}

/** Splits a list into chunks of at most `size` items, one chunk per test. */
export function chunksOf<Item>(items: readonly Item[], size = 100): Item[][] {
  const chunks: Item[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

/** Whether a parameter takes free text. */
export const isText = ({ schema }: Parameter): boolean =>
  [schema.type].flat().includes("string") && schema.enum === undefined;
