import { describe, expect, it } from "vitest";

import { judgeDocuments } from "../../../scripts/check/documents.ts";
import { makeDirectory } from "../support/temporary.ts";

const fence = "```";

/** The complaints about a small project with this README. */
function judge(readme: string, files: Record<string, string> = {}): string[] {
  const project = {
    ".gitignore": "dist/\nnode_modules/\n",
    "src/worker.ts": "",
    "src/lib/hex.ts": "",
    "docs/deploy.md": "# Deploying it\n\n## Step 1: the account\n\n## Again\n\n## Again\n",
  };
  return judgeDocuments(makeDirectory({ ...project, "README.md": readme, ...files }));
}

describe("judgeDocuments", () => {
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
  ])("is content with %s", (readme) => {
    expect(judge(readme)).toEqual([]);
  });

  it.each([
    ["`src/lib/gone.ts`", "README.md: there is no src/lib/gone.ts"],
    ["`scr/worker.ts`", "README.md: there is no scr/worker.ts"],
    ["`src/lib/gone.ts:12`", "README.md: there is no src/lib/gone.ts"],
    ["[gone](docs/gone.md)", "README.md: the link docs/gone.md leads nowhere"],
    ["[part](docs/deploy.md#gone)", "README.md: the link docs/deploy.md#gone names no heading"],
    ["# Here\n\n[below](#gone)", "README.md: the link #gone names no heading"],
    ["[ref]: docs/gone.md", "README.md: the link docs/gone.md leads nowhere"],
  ])("complains about %s", (readme, complaint) => {
    expect(judge(readme)).toEqual([complaint]);
  });

  it("reads links in docs from where they stand", () => {
    const docs = {
      "docs/other.md": "[up](../README.md) [beside](deploy.md) [wrong](docs/deploy.md)",
    };

    expect(judge("", docs)).toEqual(["docs/other.md: the link docs/deploy.md leads nowhere"]);
  });

  it("compares the tree of the README with the directories", () => {
    const tree = `
src/
  worker.ts     what the runtime calls
  lib/          leaves: bytes, hex.ts
    hex.ts
  gone/         nothing
test/           mirrors src/`;

    expect(judge(`${fence}${tree}\n${fence}`)).toEqual([
      "README.md: the tree shows src/gone/, which does not exist",
      "README.md: the tree shows test/, which does not exist",
    ]);
  });

  it("reads a tree that is drawn with lines", () => {
    const tree = "src/\n├── lib/\n│   └── hex.ts\n└── gone.ts";

    expect(judge(`${fence}\n${tree}\n${fence}`)).toEqual([
      "README.md: the tree shows src/gone.ts, which does not exist",
    ]);
  });
});
