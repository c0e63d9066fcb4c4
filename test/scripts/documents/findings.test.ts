import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { FINDING_IDS, FINDING_RULES } from "../../../src/git/object/finding.ts";

const TITLES = {
  warn: "**Accepted with a warning**",
  error: "**Refused**",
  fatal: "**Refused always**",
  ignore: "**Ignored**",
} as const;

it("docs/git.md lists every finding with its severity and git's", () => {
  const text = readFileSync("docs/git.md", "utf8");
  for (const [severity, title] of Object.entries(TITLES)) {
    const [, after = ""] = text.split(title);
    const [table = ""] = after.split("\n\n**");
    const rows = table.match(/^\| `\w+` .*$/gm) ?? [];
    const expected = FINDING_IDS.filter((id) => FINDING_RULES[id].pushed === severity).map(
      (id) => `| \`${id}\` | ${FINDING_RULES[id].git} | ${FINDING_RULES[id].text} |`,
    );
    expect([severity, rows]).toEqual([severity, expected]);
  }
});
