import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { blocks, stars } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy } from "../../support/events.ts";
import { readAll } from "../../support/list.ts";
import { freshName, make } from "../../support/make.ts";

/** An organization with its owner, a member, and somebody outside. */
async function makeScene() {
  const [owner, member, outsider] = [await make.user(), await make.user(), await make.user()];
  const org = await make.org([owner]);
  await make.member(org, await make.team(org), member);
  return { owner, member, outsider, org, path: `/orgs/${org.name}/blocks` };
}

const blocksBy = ({ id }: { id: number }) =>
  db.select({ blockedId: blocks.blockedId }).from(blocks).where(eq(blocks.blockerId, id));

describe("blocks of an organization", () => {
  it("are made, checked, listed and ended by an owner", async () => {
    const { owner, outsider, org, path } = await makeScene();
    const one = `${path}/${outsider.name}`;
    expect(await call("GET", one, { as: owner })).toMatchObject({ status: 404, body: "" });
    expect(await call("PUT", `${one}?note=no`, { as: owner })).toMatchObject({ status: 204 });
    expect((await call("PUT", one, { as: owner })).status).toBe(400);
    expect((await call("GET", one, { as: owner })).status).toBe(204);
    expect(await readAll(path, { as: owner })).toMatchObject({ ids: [outsider.id], totals: [1] });

    expect((await call("DELETE", one, { as: owner })).status).toBe(204);
    expect(await call("DELETE", one, { as: owner })).toMatchObject({
      status: 400,
      body: { message: "cannot unblock the user" },
    });
    expect(await eventsBy(owner)).toMatchObject([
      { type: "block.created", ownerId: org.id, payload: { userId: outsider.id } },
      { type: "block.deleted", ownerId: org.id, payload: { userId: outsider.id } },
    ]);
  });

  it("are for owners and administrators of the site only", async () => {
    const { owner, member, outsider, org, path } = await makeScene();
    const third = await make.user();
    for (const [method, at] of [
      ["GET", path],
      ["GET", `${path}/${third.name}`],
      ["PUT", `${path}/${third.name}`],
      ["DELETE", `${path}/${third.name}`],
    ] as const) {
      expect((await call(method, at)).status).toBe(401);
      for (const as of [member, outsider]) {
        expect(await call(method, at, { as })).toMatchObject({
          status: 403,
          body: { message: "Must be an organization owner" },
        });
      }
      const narrow = await make.token(owner, { scopes: "public-only,all" });
      expect((await call(method, at, { token: narrow })).status).toBe(403);
    }
    expect(await blocksBy(org)).toEqual([]);
    const admin = await make.admin();
    expect((await call("PUT", `${path}/${third.name}`, { as: admin })).status).toBe(204);
    expect(await blocksBy(org)).toEqual([{ blockedId: third.id }]);
  });

  it("refuse members, organizations, and whom nobody may see", async () => {
    const { owner, member, org, path } = await makeScene();
    const other = await make.org([]);
    const hidden = await make.user({ visibility: "private" });
    for (const { name } of [owner, member]) {
      expect(await call("PUT", `${path}/${name}`, { as: owner })).toMatchObject({
        status: 400,
        body: { message: "cannot block the user" },
      });
    }
    expect(await call("PUT", `${path}/${other.name}`, { as: owner })).toMatchObject({
      status: 400,
      body: { message: "cannot block an organization" },
    });
    for (const name of [hidden.name, freshName("none")]) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await call(method, `${path}/${name}`, { as: owner });
        expect(answer, method).toMatchObject({ status: 404, body: "" });
      }
    }
    expect(await blocksBy(org)).toEqual([]);
    expect(await eventsBy(owner)).toEqual([]);
  });

  it("are not found where the organization is not", async () => {
    const { owner, outsider } = await makeScene();
    const hidden = await make.org([owner], { visibility: "private" });
    for (const name of [hidden.name, freshName("none"), owner.name]) {
      const answer = await call("GET", `/orgs/${name}/blocks`, { as: outsider });
      expect(answer).toMatchObject({ status: 404, body: "" });
    }
  });

  it("undo stars of the organization's repositories, and forbid new ones", async () => {
    const { owner, outsider, org, path } = await makeScene();
    const repo = await make.repo(org);
    const star = `/user/starred/${org.name}/${repo.name}`;
    expect((await call("PUT", star, { as: outsider })).status).toBe(204);
    await call("PUT", `${path}/${outsider.name}`, { as: owner });
    expect(await db.select().from(stars).where(eq(stars.repoId, repo.id))).toEqual([]);
    expect(await call("PUT", star, { as: outsider })).toMatchObject({
      status: 403,
      body: { message: "user is blocked" },
    });
    // The organization blocks them, its owner does not.
    expect((await call("PUT", `/user/following/${owner.name}`, { as: outsider })).status).toBe(204);
  });
});
