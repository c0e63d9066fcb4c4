import { writeFileSync } from "node:fs";

import type { Reporter, TestModule } from "vitest/node";

import { cpuTimeMs } from "./cpu-time.ts";
import type { Cost, Costs } from "./ledger.ts";
import type { Tally } from "./tally.ts";
import type { Works } from "./work.ts";

/**
 * Writes the counts of a vitest run and the costs of its files into the file EDGEFORGE_TALLY
 * (scripts/test.ts).
 */
export default class TallyReporter implements Reporter {
  readonly #costs: Costs = {};
  /**
   * CPU time at the end of the last file. Files run sequentially, so the difference is the cost of
   * one file.
   */
  #cpuMs = cpuTimeMs();

  onTestModuleEnd(module: TestModule): void {
    const before = this.#cpuMs;
    this.#cpuMs = cpuTimeMs();
    const spentMs = (this.#cpuMs ?? 0) - (before ?? 0);
    const cpuMs = before === undefined ? Math.round(module.diagnostic().duration) : spentMs;
    this.#costs[module.relativeModuleId] = { cpuMs, ...callsOf(module) };
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tally: Tally = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const failedFiles: string[] = [];
    const works: Works = {};
    for (const module of modules) {
      if (!module.ok()) failedFiles.push(module.relativeModuleId);
      const counted = worksOf(module);
      if (counted) works[module.relativeModuleId] = counted;
      let hasFailure = false;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "pending") tally.skipped++;
        else tally[state]++;
        hasFailure ||= state === "failed";
      }
      // A file that cannot be loaded, or whose hooks fail, has no failed test.
      if (!hasFailure && !module.ok()) tally.failed++;
    }
    const file = process.env["EDGEFORGE_TALLY"];
    if (file)
      writeFileSync(file, JSON.stringify({ tally, costs: this.#costs, failedFiles, works }));
  }
}

/**
 * The metadata that test/support/count-d1-calls.ts sets on tests and files, and
 * test/support/expect-recorded.ts on tests.
 */
interface Counted {
  d1Calls?: number;
  works?: Works[string];
}

function callsOf(module: TestModule): Pick<Cost, "d1Calls" | "d1CallsOfTest"> {
  const { d1Calls } = module.meta() as Counted;
  if (d1Calls === undefined) return {};
  const ofTests = [...module.children.allTests()].map((test) => test.meta() as Counted);
  return { d1Calls, d1CallsOfTest: Math.max(0, ...ofTests.map((each) => each.d1Calls ?? 0)) };
}

/**
 * What the tests of a file have counted. Undefined if none has, or some were skipped: their counts
 * would be lost.
 */
function worksOf(module: TestModule): Works[string] | undefined {
  const tests = [...module.children.allTests()];
  if (tests.some((test) => test.result().state === "skipped")) return undefined;
  const works = tests.map((test) => (test.meta() as Counted).works ?? {});
  const all: Works[string] = Object.assign({}, ...works);
  return Object.keys(all).length > 0 ? all : undefined;
}
