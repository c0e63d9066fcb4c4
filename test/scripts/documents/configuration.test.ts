import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

describe("docs/configuration.md", () => {
  it("lists every variable of the service, and no other", () => {
    const source = readFileSync("src/config.ts", "utf8");
    const known = [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map((match) => match[1]);
    const [, table = ""] = readFileSync("docs/configuration.md", "utf8").split(
      "## Variables of the service",
    );
    const [service = ""] = table.split("\n## ");
    const listed = [...service.matchAll(/^\| `([A-Z0-9_]+)`/gm)].map((match) => match[1]);

    expect(listed.toSorted()).toEqual(known.toSorted());
  });
});
