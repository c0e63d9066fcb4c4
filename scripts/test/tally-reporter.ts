import { writeFileSync } from "node:fs";

import type { Reporter, TestModule } from "vitest/node";

import { cpuTimeMs } from "./cpu-time.ts";
import type { Cost, Costs } from "./ledger.ts";
import type { Tally } from "./tally.ts";

/** Counts a vitest run into the file that the environment names (scripts/test.ts), and what each of its files took. */
export default class TallyReporter implements Reporter {
  readonly #costs: Costs = {};
  /** Files run one after another, so that what was used since the last is what this one took. */
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
    for (const module of modules) {
      let hasFailure = false;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "pending") tally.skipped++;
        else tally[state]++;
        hasFailure ||= state === "failed";
      }
      // A file that cannot be loaded, or whose hooks fail, has no test to show for it.
      if (!hasFailure && !module.ok()) tally.failed++;
    }
    const file = process.env["EDGEFORGE_TALLY"];
    if (file) writeFileSync(file, JSON.stringify({ tally, costs: this.#costs }));
  }
}

/** What test/support/count-d1-calls.ts leaves with tests and files. */
interface Counted {
  d1Calls?: number;
}

function callsOf(module: TestModule): Pick<Cost, "d1Calls" | "d1CallsOfTest"> {
  const { d1Calls } = module.meta() as Counted;
  if (d1Calls === undefined) return {};
  const ofTests = [...module.children.allTests()].map((test) => test.meta() as Counted);
  return { d1Calls, d1CallsOfTest: Math.max(0, ...ofTests.map((each) => each.d1Calls ?? 0)) };
}
