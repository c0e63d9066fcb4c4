import { defineConfig } from "vitest/config";

// A project of its own, with the endings that a run can have: each file is run apart (closing-line.test.ts).
export default defineConfig({ test: { name: "sample", include: ["*.sample.ts"] } });
