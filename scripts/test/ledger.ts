import { readFile, writeFile } from "node:fs/promises";

import { z } from "zod";

import { inProject } from "../project.ts";

/** The costs of test files, by path in the project. */
export const LEDGER = "test/ledger.json";

const Cost = z.object({
  /** CPU time of all processes that run the file. It balances the shards, and is not bounded. */
  cpuMs: z.number(),
  /** D1 calls, from the tests or from the service; only for files that run in workerd. */
  d1Calls: z.number().optional(),
  /** D1 calls of the file's most expensive test. */
  d1CallsOfTest: z.number().optional(),
});

/** The cost of a test file. */
export type Cost = z.infer<typeof Cost>;

export const Costs = z.record(z.string(), Cost);

/** The costs of test files, by path. */
export type Costs = z.infer<typeof Costs>;

export async function readLedger(): Promise<Costs> {
  return Costs.parse(JSON.parse(await readFile(inProject(LEDGER), "utf8")));
}

/** Writes the ledger, one line per file. */
export async function writeLedger(ledger: Costs): Promise<void> {
  const lines = Object.keys(ledger)
    .toSorted()
    .map((file) => `  ${JSON.stringify(file)}: ${lineOf(ledger[file])}`);
  await writeFile(inProject(LEDGER), `{\n${lines.join(",\n")}\n}\n`);
}

/**
 * The ledger after a run. A file that failed keeps what is known of it, since a failed test makes a
 * part of its calls.
 *
 * @param isFullRun The run had all files: what it did not have is gone.
 */
export function recordedCosts(
  ledger: Costs,
  run: { readonly costs: Costs; readonly failedFiles: readonly string[] },
  isFullRun: boolean,
): Costs {
  const recorded: Costs = isFullRun ? {} : { ...ledger };
  for (const [file, cost] of Object.entries(run.costs)) {
    const known = run.failedFiles.includes(file) ? ledger[file] : undefined;
    recorded[file] = known ?? cost;
  }
  return recorded;
}

const lineOf = (cost: Cost | undefined): string =>
  JSON.stringify(cost).replaceAll(/[:,]/g, "$& ").replaceAll(/[{}]/g, " $& ").trim();

/**
 * With a margin: tests that wait for a background job ask for it until it is done, and races need
 * additional calls.
 */
const boundOf = (calls = 0): number => Math.ceil(calls * 1.25) + 50;

/** The files in workerd that are missing in the ledger, and so have no bound. */
export function findUnknown(ledger: Costs, costs: Costs): string[] {
  return Object.entries(costs).flatMap(([file, { d1Calls }]) =>
    d1Calls === undefined || ledger[file] ? [] : [file],
  );
}

/** A file that made more D1 calls than the ledger allows. */
export interface Overrun {
  readonly file: string;
  readonly message: string;
}

/** A file is reported twice if both the file and its most expensive test exceed their limits. */
export function findOverruns(ledger: Costs, costs: Costs): Overrun[] {
  const overruns: Overrun[] = [];
  for (const [file, { d1Calls, d1CallsOfTest }] of Object.entries(costs)) {
    const known = ledger[file];
    if (!known || d1Calls === undefined || d1CallsOfTest === undefined) continue;
    const fileMax = boundOf(known.d1Calls);
    const testMax = boundOf(known.d1CallsOfTest);
    if (d1Calls > fileMax) {
      const message = `${file} made ${d1Calls} D1 calls, the limit is ${fileMax}`;
      overruns.push({ file, message });
    }
    if (d1CallsOfTest > testMax) {
      const message = `a test of ${file} made ${d1CallsOfTest} D1 calls, the limit is ${testMax}`;
      overruns.push({ file, message });
    }
  }
  return overruns;
}
