import { describe, expect, it } from "vitest";

import { hashOf, imagesOf } from "../../support/avatars.ts";
import { call } from "../../support/call.ts";
import { eventsOf } from "../../support/events.ts";
import { pngOf } from "../../support/images.ts";
import { freshName, make } from "../../support/make.ts";

describe("the avatar of a repository", () => {
  it("is set and removed by its administrators", async () => {
    const [owner, admin] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await make.collaborator(repo, admin, 3);
    const path = `/repos/${repo.owner}/${repo.name}`;
    const image = pngOf(1, 1, freshName("image"));
    expect((await call("GET", path)).body.avatar_url).toBe("");
    expect((await call("POST", `${path}/avatar`, { as: admin, json: { image } })).status).toBe(204);
    const shown = await call("GET", path);
    expect(new URL(shown.body.avatar_url).pathname).toBe(`/avatars/${hashOf(image)}`);

    expect((await call("DELETE", `${path}/avatar`, { as: owner })).status).toBe(204);
    expect((await call("GET", path)).body.avatar_url).toBe("");
    const changed = { type: "repository.edited", payload: { changed: ["avatar"] } };
    expect(await eventsOf(repo)).toMatchObject([changed, changed]);
  });

  it("is refused to everybody else, and to what is no image", async () => {
    const [owner, writer, stranger] = [await make.user(), await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await make.collaborator(repo, writer, 2);
    const hidden = await make.repo(owner, { isPrivate: true });
    const json = { image: pngOf(1, 1) };
    for (const method of ["POST", "DELETE"]) {
      const ask = async (name: string, sending: object) =>
        (await call(method, `/repos/${owner.name}/${name}/avatar`, { json, ...sending })).status;
      expect(await ask(repo.name, {})).toBe(401);
      expect(await ask(repo.name, { as: writer })).toBe(403);
      expect(await ask(repo.name, { as: stranger })).toBe(403);
      expect(await ask(hidden.name, { as: stranger })).toBe(404);
    }
    const path = `/repos/${owner.name}/${repo.name}/avatar`;
    const sent = { as: owner, json: { image: "aGVsbG8=" } };
    expect((await call("POST", path, sent)).status).toBe(422);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("goes with the repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const path = `/repos/${repo.owner}/${repo.name}`;
    const image = pngOf(1, 1, freshName("image"));
    await call("POST", `${path}/avatar`, { as: owner, json: { image } });
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);

    const [row] = await imagesOf(hashOf(image));
    expect(row?.expiresAt).toBeGreaterThan(0);
  });
});
