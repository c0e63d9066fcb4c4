import { writeFileSync } from "node:fs";

import type { Reporter, TestModule } from "vitest/node";

import { cpuTimeMs } from "./cpu-time.ts";
import type { RunReport } from "./tally.ts";
import type { Works } from "./work.ts";

/** Writes the report of a vitest run into the file EDGEFORGE_TALLY (scripts/test.ts). */
export default class TallyReporter implements Reporter {
  readonly #cpuMs: Record<string, number> = {};
  /**
   * CPU time at the end of the last file. Files run sequentially, so the difference is the cost of
   * one file.
   */
  #lastMs = cpuTimeMs();

  onTestModuleEnd(module: TestModule): void {
    const before = this.#lastMs;
    this.#lastMs = cpuTimeMs();
    const spentMs = (this.#lastMs ?? 0) - (before ?? 0);
    const durationMs = Math.round(module.diagnostic().duration);
    this.#cpuMs[module.relativeModuleId] = before === undefined ? durationMs : spentMs;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tally = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
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
    const report: RunReport = { tally, cpuMs: this.#cpuMs, failedFiles, works };
    const file = process.env["EDGEFORGE_TALLY"];
    if (file) writeFileSync(file, JSON.stringify(report));
  }
}

/** The metadata that test/support/expect-recorded.ts sets on tests. */
interface Counted {
  works?: Works[string];
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
