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

it("accepts exactly the names that git check-ref-format accepts", () => {
  for (const name of NAMES) {
    const { status } = spawnSync("git", ["check-ref-format", name]);
    expect([name, isRefName(name)]).toEqual([name, status === 0]);
  }
});

// Git accepts such a ref name, but a command line would interpret it as an option.
it("refuses a name that starts with a dash", () => {
  expect(isRefName("-a/b")).toBe(false);
});
