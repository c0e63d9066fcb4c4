import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { badges, userBadges } from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";

const create = (admin: TestUser, json: object) =>
  call("POST", "/admin/badges", { as: admin, json });

async function makeBadge(admin: TestUser): Promise<string> {
  const slug = freshName("badge");
  expect((await create(admin, { slug, description: slug })).status).toBe(201);
  return slug;
}

const pathOf = ({ name }: { name: string }) => `/admin/users/${name}/badges`;
const slugsOf = async (admin: TestUser, user: TestUser) =>
  (await call("GET", pathOf(user), { as: admin })).body.map(({ slug }: { slug: string }) => slug);
const given = ({ id }: TestUser) => db.select().from(userBadges).where(eq(userBadges.userId, id));

describe("badges", () => {
  it("are created, listed and deleted by administrators", async () => {
    const admin = await make.admin();
    const slug = freshName("badge");
    const sent = { slug, description: "Was here", image_url: "https://example.org/b.png" };
    const created = await create(admin, sent);
    expect(created).toMatchObject({ status: 201, body: { ...sent, id: expect.any(Number) } });
    expect(await create(admin, sent)).toMatchObject({
      status: 422,
      body: { message: `badge already exists [slug: ${slug}]` },
    });
    const listed = await call("GET", "/admin/badges?limit=50", { as: admin });
    expect(listed.body).toContainEqual(created.body);
    const path = `/admin/badges/${slug}`;
    expect((await call("DELETE", path, { as: admin })).status).toBe(204);
    expect((await call("DELETE", path, { as: admin })).status).toBe(404);
  });

  it.each([
    [{ slug: "No spaces" }, "[slug]: must consist of lower-case letters, digits and dashes"],
    [{}, "[slug]: is required"],
    [
      { slug: "x", image_url: "javascript:alert(1)" },
      "[image_url]: must be a URL with http or https",
    ],
  ])("refuse %j", async (json, message) => {
    expect(await create(await make.admin(), json)).toMatchObject({
      status: 422,
      body: { message },
    });
    expect(await db.select().from(badges).where(eq(badges.slug, "x"))).toEqual([]);
  });

  it("are for administrators to change", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const slug = await makeBadge(admin);
    const sending = { as: user, json: { badge_slugs: [slug] } };
    expect((await create(user, { slug: freshName("b") })).status).toBe(403);
    expect((await call("DELETE", `/admin/badges/${slug}`, { as: user })).status).toBe(403);
    expect((await call("GET", "/admin/badges", { as: user })).status).toBe(403);
    expect((await call("GET", pathOf(user), { as: user })).status).toBe(403);
    expect((await call("POST", pathOf(user), sending)).status).toBe(403);
    expect((await call("DELETE", pathOf(user), sending)).status).toBe(403);
    expect((await call("GET", pathOf(user))).status).toBe(401);
    expect(await given(user)).toEqual([]);
  });
});

describe("a user's badges", () => {
  it("are given and taken away, once each", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const [one, two] = [await makeBadge(admin), await makeBadge(admin)];
    const json = { badge_slugs: [one, two] };
    for (const method of ["POST", "POST"]) {
      expect((await call(method, pathOf(user), { as: admin, json })).status).toBe(204);
    }
    expect(await slugsOf(admin, user)).toEqual([one, two].toSorted());
    const taken = { as: admin, json: { badge_slugs: [one] } };
    for (const method of ["DELETE", "DELETE"]) {
      expect((await call(method, pathOf(user), taken)).status).toBe(204);
    }
    expect(await slugsOf(admin, user)).toEqual([two]);
    expect(await eventsIn(user)).toMatchObject([
      { type: "user.edited", payload: { changed: ["badges"] } },
      { type: "user.edited", payload: { changed: ["badges"] } },
    ]);
    expect(await auditOf(user)).toMatchObject([
      { kind: "user.badges_changed", details: { added: [one, two], removed: [] } },
      { kind: "user.badges_changed", details: { added: [], removed: [one] } },
    ]);
  });

  it("are all given or none: an unknown badge is refused", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const json = { badge_slugs: [await makeBadge(admin), "nothing"] };
    expect(await call("POST", pathOf(user), { as: admin, json })).toMatchObject({
      status: 422,
      body: { message: "badge with slug nothing doesn't exist" },
    });
    expect(await given(user)).toEqual([]);
    const none = { as: admin, json: { badge_slugs: [] } };
    expect((await call("POST", pathOf(user), none)).status).toBe(204);
    expect((await call("POST", pathOf({ name: freshName("none") }), none)).status).toBe(404);
  });

  it("go with the badge", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const slug = await makeBadge(admin);
    await call("POST", pathOf(user), { as: admin, json: { badge_slugs: [slug] } });
    await call("DELETE", `/admin/badges/${slug}`, { as: admin });
    expect(await given(user)).toEqual([]);
  });
});
