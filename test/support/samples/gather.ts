import { OpenAPIHono } from "@hono/zod-openapi";

import { operations, type Operation } from "../operations.ts";
import type { Sample, Samples } from "./sample.ts";

// No type arguments: Vitest keeps a module out of its cache only if the source contains
// `import.meta.glob(`.
const FILES: Record<string, { samples: Samples }> = import.meta.glob("../../api/**/*.samples.ts", {
  eager: true,
});
const NOUNS: Record<string, Record<string, unknown>> = import.meta.glob("../../../src/api/*/*.ts", {
  eager: true,
});

/** Each sample with its operation's id and its file. */
export const sampleEntries: readonly { id: string; sample: Sample; file: string }[] =
  Object.entries(FILES).flatMap(([file, { samples }]) =>
    Object.entries(samples).map(([id, sample]) => ({
      id,
      sample,
      file: file.replace("../../", "test/"),
    })),
  );

const sampleById = new Map(sampleEntries.map(({ id, sample }) => [id, sample]));

export const findSample = (operationId: string): Sample | undefined => sampleById.get(operationId);

/** An operation of the API with its sample. */
export type SampledOperation = Operation & { sample: Sample };

/** Every operation that has a sample, in the order of registration. */
export const sampled: readonly SampledOperation[] = operations.flatMap((operation) => {
  const sample = findSample(operation.id);
  return sample ? [{ ...operation, sample }] : [];
});

/** Whether an operation only reads, so that its requests can share a world. */
export const isRead = ({ method, sample }: SampledOperation): boolean =>
  method === "GET" || sample.onlyReads === true;

/** Cases for `it.each`, named by operation id. */
export const byId = <Each extends { id: string }>(list: readonly Each[]) =>
  list.map((operation) => [operation.id, operation] as const);

/**
 * The file that should declare an operation's sample: next to the test of the noun that registers
 * it.
 */
export function sampleFileOf({ method, path }: Operation): string {
  const registers = (exported: unknown): boolean =>
    exported instanceof OpenAPIHono &&
    exported.openAPIRegistry.definitions.some(
      (each) =>
        each.type === "route" &&
        each.route.method === method.toLowerCase() &&
        each.route.path === path,
    );
  const file = Object.entries(NOUNS)
    .filter(([, exports]) => Object.values(exports).some(registers))
    .map(([each]) => each)
    // The index of a group repeats the operations of its nouns.
    .find((each) => !each.endsWith("/index.ts"));
  return (file ?? "test/api/<group>/<noun>.ts")
    .replace("../../../src/", "test/")
    .replace(/\.ts$/, ".samples.ts");
}
