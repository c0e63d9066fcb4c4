import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { inProject } from "../../../scripts/project.ts";

const parts = [
  "package.json",
  "package-lock.json",
  "wrangler.toml",
  "tsconfig.json",
  "CHANGELOG.md",
  "SHORTCOMINGS.md",
  "docs",
  "migrations",
  "scripts",
  "src",
  "wasm",
];

export type Checkout = { path: string; remove(): void };

/** A copy of the project, in which a test can add migrations and build without changing dist. */
export function makeCheckout(): Checkout {
  const path = mkdtempSync(join(tmpdir(), "edgeforge-checkout-"));
  for (const part of parts) cpSync(inProject(part), join(path, part), { recursive: true });
  symlinkSync(inProject("node_modules"), join(path, "node_modules"));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}
