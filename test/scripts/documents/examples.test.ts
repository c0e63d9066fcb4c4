import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Checkout, makeCheckout } from "../support/checkout.ts";
import { type Service, startService } from "../support/service.ts";
import { findMismatch, readExamples } from "./read-examples.ts";
import { runExamples, titleOf } from "./run-examples.ts";

/** In this order: later documents use the data of earlier ones. */
const DOCUMENTS = [
  "docs/api.md",
  "docs/events.md",
  "docs/organizations.md",
  "docs/issues.md",
  "docs/pulls.md",
  "docs/protection.md",
  "docs/merge-queue.md",
  "docs/releases.md",
  "docs/mirrors.md",
  "docs/migration.md",
  "docs/templates.md",
];

const directory = mkdtempSync(join(tmpdir(), "edgeforge-"));
const password = "correct horse battery";
let checkout: Checkout;
let service: Service;

beforeAll(async () => {
  checkout = makeCheckout();
  service = await startService(checkout, {
    EDGEFORGE_DATA: join(directory, "data"),
    EDGEFORGE_ADMIN_USER: "root",
    EDGEFORGE_ADMIN_PASSWORD: password,
  });
});
afterAll(async () => {
  await service.stop();
  checkout.remove();
  rmSync(directory, { recursive: true, force: true });
});

describe.each(DOCUMENTS)("%s", (document) => {
  const examples = readExamples(readFileSync(document, "utf8"));
  let printed: string[];

  beforeAll(async () => {
    const env = { FORGE: service.url, ADMIN: `root:${password}` };
    printed = await runExamples(examples, directory, env);
  });

  it("has examples", () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  it.each(examples.map((example, at) => ({ title: titleOf(example), example, at })))(
    "prints the documented output: $title",
    ({ example, at }) => {
      expect(findMismatch(example.expected, printed[at] ?? "")).toBeUndefined();
    },
  );
});
