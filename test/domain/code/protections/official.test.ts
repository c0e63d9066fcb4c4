import { describe, expect, it } from "vitest";

import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import {
  findOfficialReviewers,
  isOfficialCaller,
} from "../../../../src/domain/code/protections/official.ts";
import { findVisibleRepository } from "../../../../src/domain/repos/repository/find-repository.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { makeRule, makeRuleset } from "../../../support/protections.ts";
import { systemCtx } from "../../../support/system.ts";

/**
 * A repository of an organization with a writer, a reader, a member of another team, and a
 * stranger.
 */
async function makeWorld() {
  const people = {
    owner: await make.user(),
    writer: await make.user(),
    reader: await make.user(),
    listed: await make.user(),
    stranger: await make.user(),
  };
  const org = await make.org([people.owner]);
  const { id, name } = await make.repo(org);
  const teams = {
    writers: await make.team(org, { access: 2 }),
    readers: await make.team(org, { access: 1 }),
    listed: await make.team(org, { access: 1 }),
  };
  await make.member(org, teams.writers, people.writer);
  await make.member(org, teams.readers, people.reader);
  await make.member(org, teams.listed, people.listed);

  /** The names of users and teams whose reviews count. */
  const official = async (branch: string) => {
    const contextOf = async (user: TestUser) => {
      const ctx = { ...systemCtx({}, Date.now()), actor: { ...ANONYMOUS, user } };
      const repo = await findVisibleRepository(ctx, org.name, name);
      if (!repo) throw new Error("the repository is not visible");
      return { ctx, repo };
    };
    const { ctx, repo } = await contextOf(people.owner);
    const found = await findOfficialReviewers(ctx, repo, branch, {
      userIds: Object.values(people).map((each) => each.id),
      teamIds: Object.values(teams).map((each) => each.id),
    });
    const callers: string[] = [];
    for (const [role, user] of Object.entries(people)) {
      const as = await contextOf(user);
      if (await isOfficialCaller(as.ctx, as.repo, branch)) callers.push(role);
    }
    const namesOf = (all: Record<string, { id: number }>, ids: readonly number[]) =>
      Object.entries(all).flatMap(([key, each]) => (ids.includes(each.id) ? [key] : []));
    // The caller's own answer is the one that others get about them.
    expect(callers).toEqual(namesOf(people, found.userIds));
    return [callers, namesOf(teams, found.teamIds)];
  };
  return { org, repo: { id }, people, teams, official };
}

describe("official reviewers", () => {
  it("are those who may write the code, without a rule and with one that lists nobody", async () => {
    const { repo, official } = await makeWorld();
    const writers = [["owner", "writer"], ["writers"]];
    expect(await official("main")).toEqual(writers);
    await makeRule(repo, { settings: { requiredApprovals: 1 } });
    expect(await official("main")).toEqual(writers);
  });

  it("are those on the lists of each rule, whether they may write or not", async () => {
    const { org, repo, people, teams, official } = await makeWorld();
    const approval = {
      isRestricted: true,
      userIds: [people.reader.id],
      teamIds: [teams.listed.id],
      deployKeys: false,
    };
    await makeRule(repo, { settings: { approval } });
    expect(await official("main")).toEqual([["reader", "listed"], ["listed"]]);
    expect(await official("other")).toEqual([["owner", "writer"], ["writers"]]);
    await makeRuleset(org, { settings: { approval: { ...approval, teamIds: [] } } });
    expect(await official("main")).toEqual([["reader"], []]);
  });
});
