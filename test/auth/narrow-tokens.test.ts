import { describe, expect, it } from "vitest";

import { follows, organizationMembers, stars, watches } from "../../src/db/schema/index.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { freshName, make } from "../support/make.ts";
import { fillPath, operations } from "../support/operations.ts";

/** A user among things that are not public, all of whose names begin with the same word. */
async function makeHiddenWorld() {
  const word = freshName("hidden").replaceAll("-", "");
  const user = await make.user();
  const friend = await make.user({ name: `${word}friend`, visibility: "limited" });
  const repo = await make.repo(user, { name: `${word}repo`, isPrivate: true });
  const org = await make.org([user], { name: `${word}org`, visibility: "private" });
  const openOrg = await make.org([user, friend]);
  const team = await make.team(org, { name: `${word}team` });
  await make.member(org, team, user);
  const shared = await make.repo(friend, { name: `${word}shared` });
  await make.collaborator(shared, user, 3);
  const open = await make.repo(user);
  for (const { id, visibility } of [repo, shared, open]) {
    const mark = { userId: user.id, repoId: id, visibility, createdAt: 1000 };
    await db.batch([db.insert(stars).values(mark), db.insert(watches).values(mark)]);
  }
  await db.insert(follows).values([
    { followerId: user.id, followedId: friend.id, createdAt: 1000 },
    { followerId: friend.id, followedId: user.id, createdAt: 1000 },
  ]);
  await db.insert(organizationMembers).values({ orgId: org.id, userId: friend.id });
  await make.token(user, { repos: [repo] });
  return { word, user, friend, repo, org, openOrg, team, shared, open };
}

const reads = operations.filter(({ method }) => method === "GET");
const named = reads.map((operation) => [operation.id, operation] as const);

describe("what is not public", () => {
  // SECURITY: the scope is a promise about every route, the ones about oneself too.
  it.each(named)("is never told to a public-only token: %s", async (_, operation) => {
    const world = await makeHiddenWorld();
    const { user, friend, repo, org, openOrg, team, shared, open } = world;
    const token = await make.token(user, { scopes: "public-only,all" });
    const about = [
      { owner: user.name, repo: repo.name, org: org.name, id: repo.id, username: user.name },
      {
        owner: friend.name,
        repo: shared.name,
        org: openOrg.name,
        id: team.id,
        username: friend.name,
      },
      { owner: user.name, repo: open.name, org: openOrg.name, id: shared.id, username: user.name },
    ];
    for (const each of about) {
      const path = fillPath(operation.path, {
        ...each,
        target: friend.name,
        token: "x",
        name: "MIT",
        branch: "main",
        tag: "v1",
        topic: "plan",
        sha: "main",
        filepath: "file",
        ref: "heads",
        archive: "main.zip",
        revision: "main",
        basehead: "main...main",
        diffType: "diff",
        delivery_id: each.id,
      });
      const answer = await call("GET", `${path}?page=1&limit=50`, { token });
      expect(answer.status, path).toBeLessThan(500);
      expect(JSON.stringify(answer.body), path).not.toContain(world.word);
    }
    // The total must not count what the list leaves out, either.
    const all = await call("GET", "/user/starred", { token });
    expect(all.headers.get("X-Total-Count")).toBe("1");
  });
});

describe("another repository", () => {
  it.each(named)("is never told to a token bound to one: %s", async (_, operation) => {
    const { word, user, repo, shared, open, friend, openOrg } = await makeHiddenWorld();
    const token = await make.token(user, { repos: [open] });
    for (const each of [repo, shared, open]) {
      const path = fillPath(operation.path, {
        owner: each.owner,
        repo: each.name,
        org: openOrg.name,
        id: each.id,
        username: each === shared ? friend.name : user.name,
        target: friend.name,
        name: "MIT",
        branch: "main",
        tag: "v1",
        topic: "plan",
        sha: "main",
        filepath: "file",
        ref: "heads",
        archive: "main.zip",
        revision: "main",
        basehead: "main...main",
        diffType: "diff",
        delivery_id: each.id,
      });
      const answer = await call("GET", `${path}?page=1&limit=50`, { token });
      expect(answer.status, path).toBeLessThan(500);
      const text = JSON.stringify(answer.body);
      for (const name of ["repo", "shared"]) expect(text, path).not.toContain(`${word}${name}`);
    }
  });
});
