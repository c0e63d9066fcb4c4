import { describe, expect, it } from "vitest";

import { recordEvent } from "../../support/activities.ts";
import { call } from "../../support/call.ts";
import { make } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

async function scene() {
  const owner = await make.user();
  const member = await make.user();
  const org = await make.org([owner]);
  const team = await make.team(org, { all: false });
  await make.member(org, team, member);
  const open = await make.repo(org);
  const hidden = await make.repo(org, { isPrivate: true });
  const reached = await make.repo(org, { isPrivate: true });
  await make.teamRepo(team, reached);
  for (const repo of [open, hidden, reached]) await recordEvent(repo, owner);
  return { owner, member, org, team, open, hidden, reached };
}

const reposIn = (body: { repo_id: number }[]) => body.map((each) => each.repo_id);

describe("GET /orgs/{org}/activities/feeds", () => {
  it("lists the activities that each caller may see", async () => {
    const { owner, member, org, open, hidden, reached } = await scene();
    const path = `/orgs/${org.name}/activities/feeds`;
    expect(reposIn((await call("GET", path)).body)).toEqual([open.id]);
    expect(reposIn((await call("GET", path, { as: member })).body)).toEqual([reached.id, open.id]);
    const all = await call("GET", path, { as: owner });
    expect(reposIn(all.body)).toEqual([reached.id, hidden.id, open.id]);
    expect(all.body[0]).toMatchObject({ user_id: org.id, act_user_id: owner.id });
    expect(all.headers.get("X-Total-Count")).toBe("3");
    expect((await call("GET", "/orgs/nobody-here/activities/feeds")).status).toBe(404);
  });
});

describe("GET /teams/{id}/activities/feeds", () => {
  it("lists activities in the team's repositories, for its members", async () => {
    const { owner, member, org, team, reached } = await scene();
    const path = `/teams/${team.id}/activities/feeds`;
    const { answer, line } = await logged(() => call("GET", path, { as: member }));
    expect(reposIn(answer.body)).toEqual([reached.id]);
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
    expect(reposIn((await call("GET", path, { as: owner })).body)).toEqual([reached.id]);

    const other = await make.user();
    await make.member(org, await make.team(org), other);
    expect((await call("GET", path, { as: other })).status).toBe(403);
    expect(await call("GET", path, { as: await make.user() })).toMatchObject({ status: 404 });
    expect((await call("GET", path)).status).toBe(401);
    expect((await call("GET", "/teams/0/activities/feeds", { as: owner })).status).toBe(404);
  });

  it("lists activities of all repositories for a team with all repositories", async () => {
    const { owner, org } = await scene();
    const everything = await make.team(org);
    const { body } = await call("GET", `/teams/${everything.id}/activities/feeds`, { as: owner });
    expect(body).toHaveLength(3);
  });
});
