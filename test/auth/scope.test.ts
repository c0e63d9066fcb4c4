import { describe, expect, it } from "vitest";

import {
  ALL_SCOPES,
  SCOPE_CATEGORIES,
  hasScope,
  isWithin,
  parseScopes,
  readStoredScopes,
  type Scope,
  type Scopes,
} from "../../src/auth/scope.ts";

const LEVELS = ["read", "write"] as const;
const EVERY_SCOPE = SCOPE_CATEGORIES.flatMap((category) =>
  LEVELS.map((level): Scope => `${level}:${category}`),
);
const EVERY_WRITE = SCOPE_CATEGORIES.map((category): Scope => `write:${category}`);

function parse(...names: string[]): Scopes {
  const scopes = parseScopes(names);
  if ("unknown" in scopes) throw new Error(`unknown scope ${scopes.unknown}`);
  return scopes;
}

describe("parseScopes", () => {
  it.each([
    ["nothing", [], ""],
    ["empty items", ["", ""], ""],
    ["duplicates", ["read:user", "read:user"], "read:user"],
    [
      "another order",
      ["write:user", "read:admin", "read:issue"],
      "read:admin,read:issue,write:user",
    ],
    ["a read that a write implies", ["write:issue", "read:issue"], "write:issue"],
    ["a write after its read", ["read:issue", "write:issue"], "write:issue"],
    ["public-only at the end", ["read:user", "public-only"], "public-only,read:user"],
    ["all nine writes", EVERY_WRITE, "all"],
    [
      "all nine writes, backwards and public",
      ["public-only", ...EVERY_WRITE.toReversed()],
      "public-only,all",
    ],
    ["all", ["all"], "all"],
    ["all with what it includes", ["read:user", "all", "write:misc"], "all"],
    ["all with public-only", ["all", "public-only"], "public-only,all"],
    ["every scope name", ["public-only", ...EVERY_SCOPE], "public-only,all"],
  ])("normalises %s", (_, names, text) => {
    expect(parse(...names).text).toBe(text);
  });

  it("round-trips: the stored text parses back to the same scopes", () => {
    for (const scope of EVERY_SCOPE) {
      for (const other of [...EVERY_SCOPE, "public-only", "all"]) {
        const { text } = parse(scope, other);
        expect(readStoredScopes(text)).toEqual(parse(scope, other));
        expect(parse(...text.split(",")).text).toBe(text);
      }
    }
  });

  // Scope names of earlier Gitea versions are refused too: guessing their meaning could widen a
  // token.
  it.each([
    "repo",
    "sudo",
    "user",
    "ALL",
    "All",
    "read",
    "read:",
    ":user",
    "read:users",
    "delete:user",
    "read:user:all",
    "read:repository ",
    " read:repository",
    "read:user,all",
    "Public-Only",
    "__proto__",
    "read:__proto__",
    "read:toString",
  ])("refuses the unknown scope %j", (name) => {
    expect(parseScopes(["read:user", name])).toEqual({ unknown: name });
  });
});

describe("readStoredScopes", () => {
  // SECURITY: a missing value is never "all".
  it.each([
    ["null", null],
    ["an empty text", ""],
    ["a text of separators", ",,"],
    ["a text that can't be read", "all,everything"],
    ["a text with spaces", "all "],
  ])("grants nothing for %s", (_, text) => {
    const scopes = readStoredScopes(text);
    expect(EVERY_SCOPE.filter((scope) => hasScope(scopes, scope))).toEqual([]);
  });
});

describe("hasScope", () => {
  it("lets write imply read of its own category, and nothing else", () => {
    for (const granted of EVERY_SCOPE) {
      const [level, category] = granted.split(":");
      const allowed = EVERY_SCOPE.filter((scope) => hasScope(parse(granted), scope));
      const expected = level === "write" ? [`read:${category}`, `write:${category}`] : [granted];
      expect(allowed, granted).toEqual(expected);
    }
  });

  it("allows everything for all, also with public-only", () => {
    for (const scope of EVERY_SCOPE) {
      expect(hasScope(ALL_SCOPES, scope)).toBe(true);
      expect(hasScope(parse("all", "public-only"), scope)).toBe(true);
    }
  });
});

describe("isWithin", () => {
  const samples = [
    parse(),
    parse("public-only"),
    parse("all"),
    parse("public-only", "all"),
    ...EVERY_SCOPE.map((scope) => parse(scope)),
    ...EVERY_SCOPE.map((scope) => parse(scope, "public-only", "read:issue")),
  ];

  it("is true exactly if neither scopes nor non-public resources are gained", () => {
    for (const narrow of samples) {
      for (const wide of samples) {
        const gains = EVERY_SCOPE.some(
          (scope) => hasScope(narrow, scope) && !hasScope(wide, scope),
        );
        const opens = wide.isPublicOnly && !narrow.isPublicOnly;
        expect(isWithin(narrow, wide), `${narrow.text} in ${wide.text}`).toBe(!gains && !opens);
      }
    }
  });
});
