import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Checkout, makeCheckout } from "../support/checkout.ts";
import { type Service, startService } from "../support/service.ts";
import { judge, readExamples } from "./read-examples.ts";

const EXAMPLES = readExamples(readFileSync("docs/api.md", "utf8"));
const MARK = "@@next example@@";

const directory = mkdtempSync(join(tmpdir(), "edgeforge-"));
let checkout: Checkout;
let service: Service;
/** What each example printed. */
let printed: string[];

beforeAll(async () => {
  checkout = makeCheckout();
  const password = "correct horse battery";
  service = await startService(checkout, {
    EDGEFORGE_DATA: join(directory, "data"),
    EDGEFORGE_ADMIN_USER: "root",
    EDGEFORGE_ADMIN_PASSWORD: password,
  });
  // One shell for all, as a reader would paste them: later examples use the variables of earlier ones.
  const script = EXAMPLES.map(({ command }) => `${command}\necho; echo "${MARK}"`).join("\n");
  const output = execFileSync("bash", ["-euo", "pipefail", "-c", script], {
    cwd: directory,
    encoding: "utf8",
    env: { ...process.env, FORGE: service.url, ADMIN: `root:${password}` },
  });
  printed = output.split(`${MARK}\n`);
});
afterAll(async () => {
  await service.stop();
  checkout.remove();
  rmSync(directory, { recursive: true, force: true });
});

describe("docs/api.md", () => {
  it("has examples", () => {
    expect(EXAMPLES.length).toBeGreaterThan(10);
  });

  it.each(
    EXAMPLES.map(({ command, expected }, at) => ({ title: firstLine(command), expected, at })),
  )("shows what it says: $title", ({ expected, at }) => {
    expect(judge(expected, (printed[at] ?? "").trim())).toBeUndefined();
  });
});

const firstLine = (command: string): string =>
  command.split("\n").find((line) => !line.startsWith("#") && line.trim() !== "") ?? "";
