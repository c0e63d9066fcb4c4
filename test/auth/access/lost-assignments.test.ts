import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { everyUnit, issueAssignees, type Issue, type User } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { make, type TestUser } from "../../support/make.ts";

const assign = ({ id: issueId, repoId }: Issue, { id: userId }: User) =>
  db.insert(issueAssignees).values({ issueId, repoId, userId, createdAt: 1000 });

/** The ids of the issues that a user is assigned to. */
async function assignedTo({ id }: User) {
  const rows = await db
    .select({ issueId: issueAssignees.issueId })
    .from(issueAssignees)
    .where(eq(issueAssignees.userId, id))
    .orderBy(asc(issueAssignees.issueId));
  return rows.map(({ issueId }) => issueId);
}

const remove = async (path: string, as: TestUser) =>
  expect(await call("DELETE", path, { as })).toMatchObject({ status: 204 });

describe("who can't read the issues of a repository any more", () => {
  it("is assigned to none of them, as a collaborator who is removed", async () => {
    const [owner, user, other] = [await make.user(), await make.user(), await make.user()];
    const hidden = await make.repo(owner, { isPrivate: true });
    const shown = await make.repo(owner);
    const issues = [];
    for (const repo of [hidden, shown]) {
      for (const each of [user, other]) await make.collaborator(repo, each, 2);
      const issue = await makeIssue(repo);
      issues.push(issue.id);
      for (const each of [user, other, owner]) await assign(issue, each);
    }
    for (const { owner: name, name: repo } of [hidden, shown]) {
      await remove(`/repos/${name}/${repo}/collaborators/${user.name}`, owner);
    }
    // Everybody reads a public repository.
    expect(await assignedTo(user)).toEqual(issues.slice(1));
    expect(await assignedTo(other)).toEqual(issues);
    expect(await assignedTo(owner)).toEqual(issues);
  });

  async function makeTeams() {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org, { isPrivate: true });
    const [issue, pull] = [await makeIssue(repo), await makeIssue(repo, { isPull: true })];
    const team = await make.team(org, { access: 2 });
    const [user, both] = [await make.user(), await make.user()];
    const units = { ...everyUnit(0), issues: 1 } as const;
    const second = await make.team(org, { units });
    await make.member(org, team, user);
    await make.member(org, team, both);
    await make.member(org, second, both);
    for (const each of [issue, pull]) {
      for (const assignee of [user, both]) await assign(each, assignee);
    }
    const ids = { issue: issue.id, pull: pull.id };
    return { owner, org, repo, team, user, both, ids };
  }

  it("is assigned to none of them, as a member who leaves a team", async () => {
    const { owner, team, user, both, ids } = await makeTeams();
    await remove(`/teams/${team.id}/members/${user.name}`, owner);
    expect(await assignedTo(user)).toEqual([]);
    await remove(`/teams/${team.id}/members/${both.name}`, owner);
    expect(await assignedTo(both)).toEqual([ids.issue]);
  });

  it("is assigned to none of them, as a member who leaves the organization", async () => {
    const { owner, org, user, both } = await makeTeams();
    await remove(`/orgs/${org.name}/members/${user.name}`, owner);
    expect(await assignedTo(user)).toEqual([]);
    expect(await assignedTo(both)).toHaveLength(2);
  });

  it("is assigned to none of them, as a member of a team that is deleted", async () => {
    const { owner, team, user, both, ids } = await makeTeams();
    await remove(`/teams/${team.id}`, owner);
    expect(await assignedTo(user)).toEqual([]);
    expect(await assignedTo(both)).toEqual([ids.issue]);
  });

  it("is assigned to none of them, as a member of a team that loses the unit", async () => {
    const { owner, team, user, ids } = await makeTeams();
    const json = { name: team.name, units_map: { "repo.pulls": "write" } };
    const answer = await call("PATCH", `/teams/${team.id}`, { as: owner, json });
    expect(answer).toMatchObject({ status: 200 });
    expect(await assignedTo(user)).toEqual([ids.pull]);
  });

  it("is assigned to none of them, as a member of a team that loses the repository", async () => {
    const { owner, org } = await makeTeams();
    const repo = await make.repo(org, { isPrivate: true });
    const [kept, issue] = [await make.repo(org, { isPrivate: true }), await makeIssue(repo)];
    const keptIssue = await makeIssue(kept);
    const user = await make.user();
    const team = await make.team(org, { access: 2, all: false });
    await make.member(org, team, user);
    for (const each of [repo, kept]) await make.teamRepo(team, each);
    for (const each of [issue, keptIssue]) await assign(each, user);
    await remove(`/teams/${team.id}/repos/${org.name}/${repo.name}`, owner);
    expect(await assignedTo(user)).toEqual([keptIssue.id]);
  });
});
