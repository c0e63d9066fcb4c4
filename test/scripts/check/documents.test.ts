import { describe, expect, it } from "vitest";

import { findBrokenReferences } from "../../../scripts/check/documents.ts";
import { makeDirectory } from "../support/temporary.ts";

const fence = "```";

/** The faults of a small project with this README. */
function findFaults(readme: string, files: Record<string, string> = {}): string[] {
  const project = {
    ".gitignore": "dist/\nnode_modules/\n",
    "src/worker.ts": "",
    "src/lib/hex.ts": "",
    "docs/deploy.md": "# Deploying it\n\n## Step 1: the account\n\n## Again\n\n## Again\n",
  };
  return findBrokenReferences(makeDirectory({ ...project, "README.md": readme, ...files }));
}

describe("findBrokenReferences", () => {
  it.each([
    ["`src/lib/hex.ts` and `src/lib/`"],
    ["[how](docs/deploy.md), [the account](docs/deploy.md#step-1-the-account)"],
    ["[twice](docs/deploy.md#again-1)"],
    ["# Here\n\n[above](#here)"],
    ["[elsewhere](https://example.com/no#where)"],
    ["made by the build: `dist/worker/worker.js`"],
    ["a pattern `src/<noun>.ts`, `src/*.ts`, a route `/api/v1/user`, a type `application/json`"],
    ["a ref `refs/heads/main`, a repository `owner/name`"],
    [`${fence}\nsrc/lib/missing.ts and [no link](nowhere.md)\n${fence}`],
    ["code `[is](not-a-link.md)`"],
  ])("accepts %s", (readme) => {
    expect(findFaults(readme)).toEqual([]);
  });

  it.each([
    ["`src/lib/gone.ts`", "README.md: src/lib/gone.ts does not exist"],
    ["`scr/worker.ts`", "README.md: scr/worker.ts does not exist"],
    ["`src/lib/gone.ts:12`", "README.md: src/lib/gone.ts does not exist"],
    ["[gone](docs/gone.md)", "README.md: the target of the link docs/gone.md does not exist"],
    [
      "[part](docs/deploy.md#gone)",
      "README.md: the heading of the link docs/deploy.md#gone does not exist",
    ],
    ["# Here\n\n[below](#gone)", "README.md: the heading of the link #gone does not exist"],
    ["[ref]: docs/gone.md", "README.md: the target of the link docs/gone.md does not exist"],
  ])("complains about %s", (readme, complaint) => {
    expect(findFaults(readme)).toEqual([complaint]);
  });

  it("resolves links relative to their document", () => {
    const docs = {
      "docs/other.md": "[up](../README.md) [beside](deploy.md) [wrong](docs/deploy.md)",
    };

    expect(findFaults("", docs)).toEqual([
      "docs/other.md: the target of the link docs/deploy.md does not exist",
    ]);
  });

  it("compares the tree in the README with the directories", () => {
    const tree = `
src/
  worker.ts     what the runtime calls
  lib/          leaves: bytes, hex.ts
    hex.ts
  gone/         nothing
test/           mirrors src/`;

    expect(findFaults(`${fence}${tree}\n${fence}`)).toEqual([
      "README.md: the tree shows src/gone/, which does not exist",
      "README.md: the tree shows test/, which does not exist",
    ]);
  });

  it("parses a tree with drawn branches", () => {
    const tree = "src/\n├── lib/\n│   └── hex.ts\n└── gone.ts";

    expect(findFaults(`${fence}\n${tree}\n${fence}`)).toEqual([
      "README.md: the tree shows src/gone.ts, which does not exist",
    ]);
  });
});
