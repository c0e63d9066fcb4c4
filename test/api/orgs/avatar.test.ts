import { describe, expect, it } from "vitest";

import { hashOf } from "../../support/avatars.ts";
import { call } from "../../support/call.ts";
import { eventsIn } from "../../support/events.ts";
import { pngOf } from "../../support/images.ts";
import { freshName, make } from "../../support/make.ts";

describe("the avatar of an organization", () => {
  it("is set and removed by its owners", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const path = `/orgs/${org.name}`;
    const image = pngOf(1, 1, freshName("image"));
    expect((await call("POST", `${path}/avatar`, { as: owner, json: { image } })).status).toBe(204);
    const shown = await call("GET", path);
    expect(new URL(shown.body.avatar_url).pathname).toBe(`/avatars/${hashOf(image)}`);

    expect((await call("DELETE", `${path}/avatar`, { as: owner })).status).toBe(204);
    expect(new URL((await call("GET", path)).body.avatar_url).pathname).toBe(`/avatars/${org.id}`);
    const changed = { type: "organization.avatar_changed", ownerId: org.id, actorId: owner.id };
    expect(await eventsIn(org)).toMatchObject([changed, changed]);
  });

  it("is refused to everybody else, and to what is no image", async () => {
    const [owner, member, stranger] = [await make.user(), await make.user(), await make.user()];
    const org = await make.org([owner]);
    await make.member(org, await make.team(org), member);
    const hidden = await make.org([owner], { visibility: "private" });
    const json = { image: pngOf(1, 1) };
    for (const method of ["POST", "DELETE"]) {
      const ask = async (name: string, sending: object) =>
        (await call(method, `/orgs/${name}/avatar`, { json, ...sending })).status;
      expect(await ask(org.name, {})).toBe(401);
      expect(await ask(org.name, { as: member })).toBe(403);
      expect(await ask(org.name, { as: stranger })).toBe(403);
      expect(await ask(hidden.name, { as: stranger })).toBe(404);
      expect(await ask(freshName("none"), { as: stranger })).toBe(404);
      expect(await ask(stranger.name, { as: stranger })).toBe(404);
    }
    const sent = { as: owner, json: { image: "%" } };
    expect((await call("POST", `/orgs/${org.name}/avatar`, sent)).status).toBe(400);
    const shown = await call("GET", `/orgs/${org.name}`);
    expect(new URL(shown.body.avatar_url).pathname).toBe(`/avatars/${org.id}`);
    expect(await eventsIn(org)).toEqual([]);
  });
});
