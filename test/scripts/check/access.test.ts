import { describe, expect, it } from "vitest";

import { findForbiddenNames } from "../../../scripts/check/access.ts";
import { makeDirectory } from "../support/temporary.ts";

describe("findForbiddenNames", () => {
  it.each([
    ["src/auth/access/grants.ts", "sql`select 1 from team_members`"],
    ["src/db/schema/organizations.ts", 'sqliteTable("organization_members", {})'],
    ["src/domain/repos/repository/edit-repository.ts", 'const UNITS = ["hasCode"];'],
    ["src/domain/people/orgs/team-members.ts", 'import { findTeam } from "./team-members.ts";'],
    ["src/api/repos/forks.ts", 'isAllowed(entry, { unit: "code", mode: "read" })'],
  ])("allows %s to contain %s", (path, line) => {
    expect(findForbiddenNames(makeDirectory({ [path]: `${line}\n` }))).toEqual([]);
  });

  it.each([
    ["src/domain/people/orgs/find-team.ts", "sql`select 1 from team_members`", "team_members"],
    ["src/auth/caller-sql.ts", "sql`select 1 from collaborations`", "collaborations"],
    ["src/api/repos/forks.ts", "if (!entry.repo.hasCode) throw notFound();", "hasCode"],
    ["src/shapes/git/branch.ts", "repo.hasPullRequests", "hasPullRequests"],
  ])("complains if %s contains %s", (path, line, name) => {
    expect(findForbiddenNames(makeDirectory({ [path]: `// first\n${line}\n` }))).toEqual([
      expect.stringMatching(new RegExp(`^${path}:2: ${name}: `)),
    ]);
  });
});
