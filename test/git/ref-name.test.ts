import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { isRefName } from "../../src/git/ref-name.ts";

const NAMES = [
  "refs/heads/main",
  "refs/heads/a/b",
  "refs/heads/-a",
  "refs/heads/ä",
  "refs/heads/@",
  "a/b",
  "main",
  "refs/heads/a.lock",
  "refs/heads/a.lock/b",
  "refs/heads/.a",
  "refs/heads/a..b",
  "refs/heads/a.",
  "refs/heads//a",
  "/refs/heads/a",
  "refs/heads/",
  "refs/heads/a b",
  "refs/heads/a~1",
  "refs/heads/a^",
  "refs/heads/a:b",
  "refs/heads/a?",
  "refs/heads/a*",
  "refs/heads/a[b",
  "refs/heads/a\\b",
  "refs/heads/a@{1}",
  "refs/heads/a\x7f",
  "refs/heads/a\tb",
  "refs/heads/a@b",
  "refs/../x",
  "@",
];

it("takes the names that git check-ref-format takes", () => {
  for (const name of NAMES) {
    const { status } = spawnSync("git", ["check-ref-format", name]);
    expect([name, isRefName(name)]).toEqual([name, status === 0]);
  }
});

// Git takes it in a ref, but no command line takes it as an argument.
it("refuses a name that reads as an option", () => {
  expect(isRefName("-a/b")).toBe(false);
});
