import { describe, expect, it } from "vitest";

import { requireAccess } from "../../../src/auth/access/require-access.ts";
import type { Requirement } from "../../../src/auth/access/requirement.ts";
import { ACCESS, everyUnit, type Mode, type Repository } from "../../../src/db/schema/index.ts";

/** What becomes of a requirement for somebody who was granted a mode, with issues kept here and no wiki. */
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
    // What does not exist for the caller is not there, whatever they want of it.
    ["none", { mode: "read" }, "not_found"],
    ["none", { mode: "owner" }, "not_found"],
    ["none", { unit: "issues", mode: "read" }, "not_found"],
    ["none", { unit: "issues", mode: "write" }, "not_found"],
    // What they may use, but not so far, is refused.
    ["read", { mode: "admin" }, "forbidden"],
    ["admin", { mode: "owner" }, "forbidden"],
    ["read", { unit: "issues", mode: "write" }, "forbidden"],
    ["write", { unit: "issues", mode: "admin" }, "forbidden"],
    ["read", { mode: "read" }, "allowed"],
    ["admin", { mode: "admin" }, "allowed"],
    ["owner", { mode: "owner" }, "allowed"],
    ["write", { unit: "issues", mode: "write" }, "allowed"],
    // What is switched off is there for nobody; who may not write learns that first.
    ["owner", { unit: "wiki", mode: "read" }, "not_found"],
    ["owner", { unit: "wiki", mode: "admin" }, "not_found"],
    ["read", { unit: "wiki", mode: "write" }, "forbidden"],
  ] as const)("of somebody with %s, for %o: %s", (granted, requirement, wanted) => {
    expect(outcome(granted, requirement)).toBe(wanted);
  });
});
