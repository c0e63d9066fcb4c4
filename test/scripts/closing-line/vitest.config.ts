import { defineConfig } from "vitest/config";

// A separate project with one file per outcome of a run: each file is run alone
// (closing-line.test.ts).
export default defineConfig({ test: { name: "sample", include: ["*.sample.ts"] } });
