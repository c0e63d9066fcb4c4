import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { recordEvent } from "../../support/activities.ts";
import { make } from "../../support/make.ts";

const typesIn = (body: { events: { type: string }[] }) => body.events.map(({ type }) => type);

describe("GET /orgs/{org}/events", () => {
  it("lists the events that each caller may see", async () => {
    const owner = await make.user();
    const member = await make.user();
    const name = `events-${owner.name}`;
    await call("POST", "/orgs", { as: owner, json: { username: name } });
    const { body: org } = await call("GET", `/orgs/${name}`);
    const team = await make.team({ ...owner, id: org.id }, { all: false });
    const joined = await call("PUT", `/teams/${team.id}/members/${member.name}`, { as: owner });
    expect(joined.status).toBe(204);
    const { name: made } = (
      await call("POST", `/orgs/${name}/repos`, { as: owner, json: { name: "open" } })
    ).body;
    const hidden = { ...owner, id: org.id, name };
    const repo = await make.repo(hidden, { isPrivate: true });
    await recordEvent(repo, owner, "public_key.added", { fingerprint: "SHA256:x" });
    await recordEvent(repo, owner);

    const path = `/orgs/${name}/events`;
    const open = ["organization.created", "repository.created"];
    expect(typesIn((await call("GET", path)).body)).toEqual(open);
    expect(typesIn((await call("GET", path, { as: await make.user() })).body)).toEqual(open);
    const inside = ["organization.created", "organization.member_added", "repository.created"];
    expect(typesIn((await call("GET", path, { as: member })).body)).toEqual(inside);
    const all = [...inside, "public_key.added", "repository.created"];
    expect(typesIn((await call("GET", path, { as: owner })).body)).toEqual(all);

    await call("DELETE", `/repos/${name}/${made}`, { as: owner });
    expect(typesIn((await call("GET", path)).body)).toEqual(["organization.created"]);
    const after = await call("GET", path, { as: owner });
    expect(typesIn(after.body).at(-1)).toBe("repository.deleted");
  });

  it("is not found for an organization that the caller may not see, and for a user", async () => {
    const owner = await make.user();
    const org = await make.org([owner], { visibility: "private" });
    const path = `/orgs/${org.name}/events`;
    expect(await call("GET", path)).toMatchObject({ status: 404, body: "" });
    expect((await call("GET", path, { as: owner })).status).toBe(200);
    expect((await call("GET", `/orgs/${owner.name}/events`, { as: owner })).status).toBe(404);
    const token = await make.token(owner, { scopes: "read:organization" });
    expect((await call("GET", path, { token })).status).toBe(403);
  });
});
