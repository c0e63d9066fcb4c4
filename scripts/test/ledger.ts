import { readFile, writeFile } from "node:fs/promises";

import { z } from "zod";

import { inProject } from "../project.ts";

/** Beside the tests, by the path of each file in the project. */
export const LEDGER = "test/ledger.json";

const Cost = z.object({
  /** Processor time of everything that runs the file: what files are balanced by, and no bound. */
  cpuMs: z.number(),
  /** Calls of D1, by whoever sent them; of files that run in workerd. */
  d1Calls: z.number().optional(),
  /** Those of the test with the most. */
  d1CallsOfTest: z.number().optional(),
});

/** What a test file takes. */
export type Cost = z.infer<typeof Cost>;

export const Costs = z.record(z.string(), Cost);

/** What test files take, by their paths. */
export type Costs = z.infer<typeof Costs>;

export async function readLedger(): Promise<Costs> {
  return Costs.parse(JSON.parse(await readFile(inProject(LEDGER), "utf8")));
}

/** Writes files into the ledger in the place of what it held of them, a line each. */
export async function writeLedger(ledger: Costs): Promise<void> {
  const lines = Object.keys(ledger)
    .toSorted()
    .map((file) => `  ${JSON.stringify(file)}: ${lineOf(ledger[file])}`);
  await writeFile(inProject(LEDGER), `{\n${lines.join(",\n")}\n}\n`);
}

const lineOf = (cost: Cost | undefined): string =>
  JSON.stringify(cost).replaceAll(/[:,]/g, "$& ").replaceAll(/[{}]/g, " $& ").trim();

/** Jobs that an earlier file left behind may run meanwhile, and races may take a call more. */
const boundOf = (calls = 0): number => Math.ceil(calls * 1.2) + 10;

/** The files in workerd that the ledger has no line for: they have no bound yet. */
export function findUnknown(ledger: Costs, costs: Costs): string[] {
  return Object.entries(costs).flatMap(([file, { d1Calls }]) =>
    d1Calls === undefined || ledger[file] ? [] : [file],
  );
}

/** Says of each file that took more calls of D1 than the ledger allows. */
export function findOverruns(ledger: Costs, costs: Costs): string[] {
  const overruns: string[] = [];
  for (const [file, { d1Calls, d1CallsOfTest }] of Object.entries(costs)) {
    const known = ledger[file];
    if (!known || d1Calls === undefined || d1CallsOfTest === undefined) continue;
    const fileMax = boundOf(known.d1Calls);
    const testMax = boundOf(known.d1CallsOfTest);
    if (d1Calls > fileMax) overruns.push(`${file} took ${d1Calls} calls of D1, ${fileMax} at most`);
    if (d1CallsOfTest > testMax) {
      overruns.push(`a test of ${file} took ${d1CallsOfTest} calls of D1, ${testMax} at most`);
    }
  }
  return overruns;
}
