import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { watches } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { make, type TestUser } from "../../support/make.ts";
import { statusesOf } from "../../support/statuses.ts";

const logins = (answer: { body: { login: string }[] }) => answer.body.map(({ login }) => login);

/** An organization with an owner, a private member and a public member. */
async function makeOrg(fields: Parameters<typeof make.org>[1] = {}) {
  const [owner, quiet, loud] = [await make.user(), await make.user(), await make.user()];
  const org = await make.org([owner], fields);
  const team = await make.team(org);
  await make.member(org, team, quiet);
  await make.member(org, team, loud);
  const path = `/orgs/${org.name}/public_members/${loud.name}`;
  expect((await call("PUT", path, { as: loud })).status).toBe(204);
  return { org, team, owner, quiet, loud };
}

describe("lists of members", () => {
  it("show all members to members, and public members to outsiders", async () => {
    const { org, owner, quiet, loud } = await makeOrg();
    const stranger = await make.user();
    const publicOnly = await make.token(quiet, { scopes: "public-only,all" });
    const path = `/orgs/${org.name}/members`;
    const all = [owner.name, quiet.name, loud.name].toSorted();

    const inside = await call("GET", path, { as: quiet });
    expect(logins(inside)).toEqual(all);
    expect(inside.headers.get("X-Total-Count")).toBe("3");
    expect(logins(await call("GET", path, { as: await make.admin() }))).toEqual(all);
    expect(logins(await call("GET", path, { as: stranger }))).toEqual([loud.name]);
    expect(logins(await call("GET", path, { token: publicOnly }))).toEqual([loud.name]);
    expect((await call("GET", path)).status).toBe(401);
  });

  it("show public members to everybody", async () => {
    const { org, quiet, loud } = await makeOrg();
    const path = `/orgs/${org.name}/public_members`;

    expect(logins(await call("GET", path))).toEqual([loud.name]);
    expect(logins(await call("GET", path, { as: quiet }))).toEqual([loud.name]);
  });

  // SECURITY: no route reveals a private organization to outsiders.
  it("are not found for outsiders of a private organization", async () => {
    const { org, loud } = await makeOrg({ visibility: "private" });
    const stranger = await make.user();

    for (const list of ["members", "public_members"]) {
      for (const path of [`/orgs/${org.name}/${list}`, `/orgs/${org.name}/${list}/${loud.name}`]) {
        expect(await call("GET", path, { as: stranger })).toMatchObject({ status: 404, body: "" });
      }
    }
    expect((await call("GET", `/orgs/${org.name}/teams`, { as: stranger })).status).toBe(404);
  });

  // Members see private accounts of their organization: otherwise nobody could manage them.
  it("show members with private accounts to other members", async () => {
    const { org, team, owner, quiet } = await makeOrg();
    const hidden = await make.user({ visibility: "private" });
    await make.member(org, team, hidden);
    const stranger = await make.user();

    expect(logins(await call("GET", `/orgs/${org.name}/members`, { as: owner }))).toContain(
      hidden.name,
    );
    expect(logins(await call("GET", `/teams/${team.id}/members`, { as: quiet }))).toContain(
      hidden.name,
    );
    const path = `/orgs/${org.name}/members/${hidden.name}`;
    expect((await call("GET", path, { as: owner })).status).toBe(204);
    expect((await call("GET", path, { as: stranger })).status).toBe(404);
    const removal = `/teams/${team.id}/members/${hidden.name}`;
    expect((await call("DELETE", removal, { as: owner })).status).toBe(204);
  });
});

describe("GET /orgs/{org}/members/{username}", () => {
  it("confirms every member to members and administrators", async () => {
    const { org, quiet, loud } = await makeOrg();
    const stranger = await make.user();
    const statusFor = async (user: { name: string }, sending: object) =>
      (await call("GET", `/orgs/${org.name}/members/${user.name}`, sending)).status;

    expect(await statusFor(quiet, { as: loud })).toBe(204);
    expect(await statusFor(quiet, { as: await make.admin() })).toBe(204);
    expect(await statusFor(stranger, { as: loud })).toBe(404);
    expect(await statusFor({ name: "nobody-of-this-name" }, { as: loud })).toBe(404);
    expect(await statusFor(stranger, { as: stranger })).toBe(404);
    expect(await statusFor(loud, {})).toBe(401);
  });

  // SECURITY: the redirect is the same for members and others, so that it reveals no membership.
  it("redirects outsiders to the public membership", async () => {
    const { org, quiet, loud } = await makeOrg();
    const [stranger, other] = [await make.user(), await make.user()];

    for (const user of [quiet, loud, other]) {
      const answer = await call("GET", `/orgs/${org.name}/members/${user.name}`, { as: stranger });
      expect(answer).toMatchObject({ status: 303, body: "" });
      const path = `/api/v1/orgs/${org.name}/public_members/${user.name}`;
      expect(answer.headers.get("Location")).toBe(`https://forge.example${path}`);
    }
    const narrow = await make.token(quiet, { scopes: "public-only,all" });
    const path = `/orgs/${org.name}/members/${loud.name}`;
    expect((await call("GET", path, { token: narrow })).status).toBe(303);
  });
});

describe("DELETE /orgs/{org}/members/{username}", () => {
  it("removes a member from all teams and from the organization, and records one event", async () => {
    const { org, team, owner, quiet } = await makeOrg();
    const other = await make.team(org);
    await make.member(org, other, quiet);
    const path = `/orgs/${org.name}/members/${quiet.name}`;

    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204, body: "" });

    expect((await call("GET", path, { as: owner })).status).toBe(404);
    for (const { id } of [team, other]) {
      const members = await call("GET", `/teams/${id}/members`, { as: owner });
      expect(logins(members)).not.toContain(quiet.name);
    }
    const removed = {
      type: "organization.member_removed",
      actorId: owner.id,
      payload: { userId: quiet.id, teamId: null },
    };
    expect((await eventsIn(org)).slice(1)).toMatchObject([removed]);
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    expect((await eventsIn(org)).slice(1)).toMatchObject([removed]);
  });

  it("ends watches of repositories that the member may not see any more, and no others", async () => {
    const { org, owner, quiet, loud } = await makeOrg();
    const hidden = await make.repo(org, { isPrivate: true });
    const shared = await make.repo(org, { isPrivate: true });
    await make.collaborator(shared, quiet, 1);
    const open = await make.repo(org);
    const elsewhere = await make.repo(quiet, { isPrivate: true });
    for (const repo of [hidden, shared, open, elsewhere]) {
      const path = `/repos/${repo.owner}/${repo.name}/subscription`;
      expect((await call("PUT", path, { as: quiet })).status).toBe(200);
    }
    await call("PUT", `/repos/${org.name}/${hidden.name}/subscription`, { as: loud });

    await call("DELETE", `/orgs/${org.name}/members/${quiet.name}`, { as: owner });

    const left = await db.select().from(watches).where(eq(watches.userId, quiet.id));
    expect(left.map(({ repoId }) => repoId).toSorted((a, b) => a - b)).toEqual([
      shared.id,
      open.id,
      elsewhere.id,
    ]);
    const { body } = await call("GET", `/repos/${org.name}/${hidden.name}`, { as: owner });
    expect(body.watchers_count).toBe(1);
  });

  it("refuses everybody but owners and administrators", async () => {
    const { org, quiet, loud } = await makeOrg();
    const path = `/orgs/${org.name}/members/${quiet.name}`;

    for (const as of [quiet, loud, await make.user()]) {
      expect(await call("DELETE", path, { as })).toMatchObject({
        status: 403,
        body: { message: "Must be an organization owner" },
      });
    }
    expect((await call("DELETE", path)).status).toBe(401);
    expect((await call("GET", path, { as: loud })).status).toBe(204);
    expect(await eventsIn(org)).toHaveLength(1);
    expect((await call("DELETE", path, { as: await make.admin() })).status).toBe(204);
  });

  it("changes nothing for users who are not members, and finds no unknown ones", async () => {
    const { org, owner } = await makeOrg();
    const [stranger, hidden] = [await make.user(), await make.user({ visibility: "private" })];
    const remove = async (name: string) =>
      (await call("DELETE", `/orgs/${org.name}/members/${name}`, { as: owner })).status;

    expect(await remove(stranger.name)).toBe(204);
    expect(await remove(hidden.name)).toBe(404);
    expect(await remove("nobody-of-this-name")).toBe(404);
    expect(await eventsIn(org)).toHaveLength(1);
  });

  it("refuses to remove the last owner, from any team", async () => {
    const { org, team, owner } = await makeOrg();
    await make.member(org, team, owner);
    const path = `/orgs/${org.name}/members/${owner.name}`;

    expect(await call("DELETE", path, { as: owner })).toMatchObject({
      status: 403,
      body: { message: "the last owner of an organization can't be removed" },
    });
    expect(
      (await call("GET", `/teams/${team.id}/members/${owner.name}`, { as: owner })).status,
    ).toBe(200);
    expect(await eventsIn(org)).toHaveLength(1);
  });

  it("keeps one of two owners who remove one another at once", async () => {
    const pair = [await make.user(), await make.user()];
    const org = await make.org(pair);

    const answers = await Promise.all(
      pair.map((owner, at) =>
        call("DELETE", `/orgs/${org.name}/members/${owner.name}`, { as: pair[1 - at] as TestUser }),
      ),
    );

    // The second request is refused as one of the last owner, or as one of somebody who owns
    // nothing any more.
    expect(statusesOf(answers)).toEqual([204, 403]);
    const left = await call("GET", `/orgs/${org.name}/members`, { as: await make.admin() });
    expect(left.body).toHaveLength(1);
    expect(await eventsIn(org)).toHaveLength(1);
  });
});

describe("/orgs/{org}/public_members/{username}", () => {
  it("lets a member publish and conceal their membership", async () => {
    const { org, quiet } = await makeOrg();
    const path = `/orgs/${org.name}/public_members/${quiet.name}`;

    expect((await call("GET", path)).status).toBe(404);
    expect(await call("PUT", path, { as: quiet })).toMatchObject({ status: 204, body: "" });
    expect((await call("GET", path)).status).toBe(204);
    expect((await call("DELETE", path, { as: quiet })).status).toBe(204);
    expect((await call("GET", path)).status).toBe(404);
    expect((await eventsIn(org)).slice(1)).toMatchObject([
      { type: "organization.member_visibility_changed", payload: { isPublic: true } },
      { type: "organization.member_visibility_changed", payload: { isPublic: false } },
    ]);
  });

  it("records no event without a change", async () => {
    const { org, loud } = await makeOrg();
    const path = `/orgs/${org.name}/public_members/${loud.name}`;

    expect((await call("PUT", path, { as: loud })).status).toBe(204);
    expect(await eventsIn(org)).toHaveLength(1);
  });

  // SECURITY: only the member may change the visibility of a membership, not even an owner of the
  // organization.
  it("refuses to change another user's membership", async () => {
    const { org, owner, quiet, loud } = await makeOrg();

    for (const [method, user] of [
      ["PUT", quiet],
      ["DELETE", loud],
    ] as const) {
      const path = `/orgs/${org.name}/public_members/${user.name}`;
      expect(await call(method, path, { as: owner })).toMatchObject({
        status: 403,
        body: { message: "Cannot change member visibility" },
      });
    }
    expect(logins(await call("GET", `/orgs/${org.name}/public_members`))).toEqual([loud.name]);
    expect(await eventsIn(org)).toHaveLength(1);
  });

  it("refuses users who are not members, and asks anonymous callers to sign in", async () => {
    const { org, quiet } = await makeOrg();
    const stranger = await make.user();
    const pathOf = (user: { name: string }) => `/orgs/${org.name}/public_members/${user.name}`;

    expect(await call("PUT", pathOf(stranger), { as: stranger })).toMatchObject({
      status: 403,
      body: { message: "Must be an organization member" },
    });
    expect((await call("PUT", pathOf(quiet))).status).toBe(401);
    expect(await eventsIn(org)).toHaveLength(1);
  });

  // SECURITY: the refusal of an outsider must not reveal whether a user is a member.
  it("refuses an outsider alike for private members and for strangers", async () => {
    const { org, quiet } = await makeOrg();
    const [stranger, other] = [await make.user(), await make.user()];

    for (const user of [quiet, other]) {
      const path = `/orgs/${org.name}/public_members/${user.name}`;
      expect((await call("PUT", path, { as: stranger })).status).toBe(403);
    }
  });
});
