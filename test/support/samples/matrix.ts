import { env } from "cloudflare:workers";

import type { Parameter, Schema } from "../operations.ts";

/** Whether each value is sent for each field, as `EDGEFORGE_TEST_ALL=1` asks for. */
const SENDS_ALL = env.TEST_ALL;

/** A field or parameter, as far as it decides which values are worth sending. */
export interface MatrixField {
  name: string;
  /** Where a parameter is. */
  in?: string;
  schema: Schema;
}

/**
 * Chooses the values to send for each field: all of them for the first field of a class, which is a
 * name with a schema, and for its other fields one that is another from field to field.
 */
export function matrixOf<Value>(values: readonly Value[]) {
  const classes = new Set<string>();
  let turn = 0;
  return ({ name, in: where, schema }: MatrixField): readonly Value[] => {
    const key = JSON.stringify([name, where, { ...schema, description: undefined }]);
    if (SENDS_ALL || !classes.has(key)) {
      classes.add(key);
      return values;
    }
    const at = turn++ % values.length;
    return values.slice(at, at + 1);
  };
}

/** Cuts a list of requests into lists that one test may send. */
export function chunksOf<Item>(items: readonly Item[], size = 100): Item[][] {
  const chunks: Item[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

/** Parameters of text, which can hold anything. */
export const isText = ({ schema }: Parameter): boolean =>
  [schema.type].flat().includes("string") && schema.enum === undefined;
