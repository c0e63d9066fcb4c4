import { writeFileSync } from "node:fs";

import type { Reporter, TestModule } from "vitest/node";

import type { Tally } from "./tally.ts";

/** Counts a vitest run into the file that the environment names (scripts/test.ts). */
export default class TallyReporter implements Reporter {
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
    if (file) writeFileSync(file, JSON.stringify(tally));
  }
}
