import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, labels, type User } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { attachLabel, makeIssue, makeLabel } from "../../support/issues.ts";
import { make, type TestUser } from "../../support/make.ts";

const pathOf = ({ name }: User, rest = "") => `/orgs/${name}/labels${rest}`;

const labelsOf = ({ id }: User) =>
  db.select().from(labels).where(eq(labels.orgId, id)).orderBy(asc(labels.id));

const eventsOf = async ({ id }: User) =>
  db
    .select({ type: events.type, repoId: events.repoId, payload: events.payload })
    .from(events)
    .where(eq(events.ownerId, id))
    .orderBy(asc(events.id));

async function makeScene(fields: Parameters<typeof make.org>[1] = {}) {
  const owner = await make.user();
  const org = await make.org([owner], fields);
  const member = await make.user();
  await make.member(org, await make.team(org, { access: 3 }), member);
  return { owner, org, member };
}

const json = { name: "kind/bug", color: "#EE0701", exclusive: true };

const statuses = async (org: User, id: number, as?: TestUser) => {
  const caller = as ? { as } : {};
  const send = async (method: string, rest = "", sent?: object) =>
    (await call(method, pathOf(org, rest), { ...caller, ...(sent && { json: sent }) })).status;
  return [
    await send("GET"),
    await send("GET", `/${id}`),
    await send("POST", "", json),
    await send("PATCH", `/${id}`, json),
    await send("DELETE", `/${id}`),
  ];
};

describe("labels of an organization", () => {
  it("are created, edited and deleted by its owners, and announced to it", async () => {
    const { owner, org } = await makeScene();
    const created = await call("POST", pathOf(org), { as: owner, json });
    const { id } = created.body;
    expect(created).toMatchObject({
      status: 201,
      body: {
        ...json,
        color: "ee0701",
        url: `https://forge.example/api/v1${pathOf(org, `/${id}`)}`,
      },
    });
    const edit = { description: "d", is_archived: true };
    expect(await call("PATCH", pathOf(org, `/${id}`), { as: owner, json: edit })).toMatchObject({
      status: 200,
      body: { ...edit, name: json.name },
    });
    expect(await call("GET", pathOf(org, "/kind%2Fbug"), { as: owner })).toMatchObject({
      status: 200,
      body: { id, is_archived: true },
    });
    expect((await call("DELETE", pathOf(org, `/${id}`), { as: owner })).status).toBe(204);
    expect((await call("GET", pathOf(org, `/${id}`), { as: owner })).status).toBe(404);
    const of = { repoId: null, payload: { labelId: id } };
    expect(await eventsOf(org)).toEqual([
      { type: "label.created", ...of },
      { type: "label.edited", ...of },
      { type: "label.deleted", ...of },
    ]);
    const { body } = await call("GET", `/orgs/${org.name}/events`, { as: owner });
    expect(body.events).toMatchObject([
      { type: "label.created", payload: { label_id: id } },
      { type: "label.edited" },
      { type: "label.deleted" },
    ]);
  });

  it("are public with the organization, and only its owners and administrators change them", async () => {
    const { owner, org, member } = await makeScene();
    const label = await makeLabel({ org });
    expect(await statuses(org, label.id)).toEqual([200, 401, 401, 401, 401]);
    expect(await statuses(org, label.id, await make.user())).toEqual([200, 200, 403, 403, 403]);
    expect(await statuses(org, label.id, member)).toEqual([200, 200, 403, 403, 403]);
    expect(await labelsOf(org)).toEqual([label]);
    expect(await statuses(org, label.id, await make.admin())).toEqual([200, 200, 201, 200, 204]);
    expect((await call("GET", pathOf(owner))).status).toBe(404);
  });

  // SECURITY: Gitea lists them for everybody.
  it("are hidden with a private organization", async () => {
    const { owner, org, member } = await makeScene({ visibility: "private" });
    const label = await makeLabel({ org });
    const stranger = await make.user();
    expect(await statuses(org, label.id, stranger)).toEqual([404, 404, 404, 404, 404]);
    expect(await statuses(org, label.id)).toEqual([404, 401, 401, 401, 401]);
    expect((await call("GET", pathOf(org), { as: member })).body).toMatchObject([{ id: label.id }]);
    expect((await call("GET", pathOf(org), { as: owner })).body).toHaveLength(1);
    const token = await make.token(owner, { scopes: "all,public-only" });
    expect((await call("GET", pathOf(org), { token })).status).toBe(404);
  });

  // SECURITY: each id is looked up together with its organization.
  it("are those of the organization of the path only", async () => {
    const { owner, org } = await makeScene();
    const other = await make.org([owner]);
    const kept = [await makeLabel({ org: other }), await makeLabel({ repo: await make.repo(org) })];
    for (const label of kept) {
      const at = pathOf(org, `/${label.id}`);
      expect((await call("GET", at, { as: owner })).status).toBe(404);
      expect((await call("PATCH", at, { as: owner, json })).status).toBe(404);
      expect((await call("DELETE", at, { as: owner })).status).toBe(204);
      expect(await db.select().from(labels).where(eq(labels.id, label.id))).toEqual([label]);
    }
    expect((await call("GET", pathOf(org), { as: owner })).body).toEqual([]);
    expect(await eventsOf(org)).toEqual([]);
  });

  it("go off the issues of its repositories with their deletion", async () => {
    const { owner, org } = await makeScene();
    const repo = await make.repo(org);
    const issue = await makeIssue(repo);
    const label = await makeLabel({ org });
    await attachLabel(issue, label);
    await call("DELETE", pathOf(org, `/${label.id}`), { as: owner });
    const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/issues/1/labels`);
    expect(body).toEqual([]);
  });

  it("are listed by page and in the order that is asked for", async () => {
    const { org } = await makeScene();
    for (const name of ["b", "a", "c"]) await makeLabel({ org }, { name });
    const list = async (query: string) => {
      const { body, headers } = await call("GET", pathOf(org, query));
      const names = (body as { name: string }[]).map(({ name }) => name);
      return [names.join(""), headers.get("X-Total-Count")];
    };
    expect(await list("")).toEqual(["abc", "3"]);
    expect(await list("?sort=reversealphabetically&page=1&limit=2")).toEqual(["cb", "3"]);
  });

  it.each([
    [{ color: "#ffffff" }, "[name]: is required"],
    [{ name: "", color: "#ffffff" }, "[name]: must not be empty"],
    [{ name: "a", color: "nope" }, "invalid color: nope"],
  ])("refuse %j", async (sent, message) => {
    const { owner, org } = await makeScene();
    expect(await call("POST", pathOf(org), { as: owner, json: sent })).toMatchObject({
      status: 422,
      body: { message },
    });
    expect(await labelsOf(org)).toEqual([]);
  });
});
