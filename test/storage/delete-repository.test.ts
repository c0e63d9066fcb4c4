import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";

import { networkPrefix } from "../../src/storage/keys.ts";
import { call } from "../support/call.ts";
import { make } from "../support/make.ts";

it("takes a deleted repository's refs and packs along, and no neighbour's", async () => {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const neighbour = `${networkPrefix(Number(`${repo.id}0`))}packs/x.pack`;
  await env.PACKS.put(`${networkPrefix(repo.id)}packs/x.pack`, "pack");
  await env.PACKS.put(neighbour, "pack");
  const object = env.REPOSITORY.getByName(String(repo.id));
  await object.setHead("refs/heads/x");

  const { status } = await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as: owner });
  expect(status).toBe(204);
  await vi.waitFor(async () => {
    const { objects } = await env.PACKS.list({ prefix: networkPrefix(repo.id) });
    expect(objects).toEqual([]);
  });
  expect((await object.snapshot()).head).toBeNull();
  expect(await env.PACKS.head(neighbour)).not.toBeNull();
});
