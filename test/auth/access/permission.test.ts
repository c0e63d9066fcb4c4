import { describe, expect, it } from "vitest";

import { requireAccess } from "../../../src/auth/access/permission.ts";
import type { Requirement } from "../../../src/auth/access/requirement.ts";
import { ACCESS, everyUnit, type Mode, type Repository } from "../../../src/db/schema/index.ts";

/**
 * The result of a requirement for a caller with a mode, in a repository with issues enabled and no
 * wiki.
 */
function outcome(granted: Mode, requirement: Requirement): string {
  const repo = { hasIssues: true, hasWiki: false, externalWikiUrl: "", issueSettings: {} };
  const permission = { mode: ACCESS[granted], units: everyUnit(ACCESS[granted]) };
  try {
    requireAccess({ row: repo as Repository, permission }, requirement);
    return "allowed";
  } catch (error) {
    return (error as { kind: string }).kind;
  }
}

describe("requireAccess", () => {
  it.each([
    // A repository or unit that the caller may not see is not found, whatever the requirement.
    ["none", { mode: "read" }, "not_found"],
    ["none", { mode: "owner" }, "not_found"],
    ["none", { unit: "issues", mode: "read" }, "not_found"],
    ["none", { unit: "issues", mode: "write" }, "not_found"],
    // A mode lower than the required one is forbidden.
    ["read", { mode: "admin" }, "forbidden"],
    ["admin", { mode: "owner" }, "forbidden"],
    ["read", { unit: "issues", mode: "write" }, "forbidden"],
    ["write", { unit: "issues", mode: "admin" }, "forbidden"],
    ["read", { mode: "read" }, "allowed"],
    ["admin", { mode: "admin" }, "allowed"],
    ["owner", { mode: "owner" }, "allowed"],
    ["write", { unit: "issues", mode: "write" }, "allowed"],
    // A disabled unit is not found; who administers the repository, and can enable it, reads it.
    ["read", { unit: "wiki", mode: "read" }, "not_found"],
    ["read", { unit: "wiki", mode: "write" }, "not_found"],
    ["write", { unit: "wiki", mode: "write" }, "not_found"],
    ["admin", { unit: "wiki", mode: "read" }, "allowed"],
    ["owner", { unit: "wiki", mode: "read" }, "allowed"],
    ["owner", { unit: "wiki", mode: "admin" }, "forbidden"],
  ] as const)(
    "for a caller with %s, and the requirement %o: %s",
    (granted, requirement, expected) => {
      expect(outcome(granted, requirement)).toBe(expected);
    },
  );
});
