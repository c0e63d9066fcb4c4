import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { encodeText } from "../../src/git/byte-text.ts";
import { findMisleading, isRefName } from "../../src/git/ref-name.ts";

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

describe("findMisleading", () => {
  const sha1 = "0123456789abcdef0123456789ABCDEF01234567";
  const sha256 = "0123456789abcdef".repeat(4);

  it.each([
    ...["refs/", "refs/heads/", "refs/tags/", "refs/remotes/"].map((above) => above + sha1),
    `refs/heads/${sha256}`,
  ])("finds an object id: %s", (name) => {
    expect(findMisleading(encodeText(name))).toContain("hex digits");
  });

  it.each(["refs/-x", "refs/heads/-x", "refs/tags/-x/y", "refs/notes/-"])(
    "finds a dash at the beginning: %s",
    (name) => {
      expect(findMisleading(encodeText(name))).toContain("dash");
    },
  );

  it.each(["\x1b", "\x7f", "\x85", "\u061c", "\u200e", "\u202a", "\u202e", "\u2066", "\u2069"])(
    "finds a control or bidirectional character: %j",
    (char) => {
      expect(findMisleading(encodeText(`refs/heads/a${char}b`))).toContain("characters");
    },
  );

  it.each([
    `refs/heads/${sha1}0`,
    `refs/heads/${sha1.slice(1)}`,
    `refs/heads/fix/${sha1}`,
    `refs/replace/${sha1}`,
    "refs/heads/a/-b",
    "refs/heads/größe",
    "refs/heads/👩‍💻",
  ])("accepts %s", (name) => {
    expect(findMisleading(encodeText(name))).toBeUndefined();
  });
});
