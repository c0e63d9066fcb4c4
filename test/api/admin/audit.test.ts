import { describe, expect, it } from "vitest";

import { auditEvents } from "../../../src/db/schema/index.ts";
import { call, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";

const ADDRESS = "203.0.113.9";
const headers = { "CF-Connecting-IP": ADDRESS };

interface Entry {
  id: number;
  kind: string;
  target: string;
  actor: { login: string } | null;
  address: string | null;
}

const addEmail = async (user: TestUser): Promise<string> => {
  const email = `${freshName("mail")}@example.com`;
  const answer = await call("POST", "/user/emails", {
    as: user,
    headers,
    json: { emails: [email] },
  });
  expect(answer.status).toBe(201);
  return email;
};

/** Follows a list to its end. */
async function listAll(path: string, sending: Sending): Promise<Entry[]> {
  const all: Entry[] = [];
  let after: number | undefined;
  for (;;) {
    const url = after === undefined ? path : `${path}&after=${after}`;
    const { status, body } = await call("GET", url, sending);
    expect(status).toBe(200);
    all.push(...body.events);
    if (body.next === after || (after === undefined && body.events.length === 0)) return all;
    after = body.next;
  }
}

describe("GET /admin/audit", () => {
  it("lists entries of all accounts to administrators only", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const email = await addEmail(user);
    const path = `/admin/audit?owner=${user.name}`;
    const { body } = await call("GET", path, { as: admin });
    expect(body.events).toEqual([
      {
        id: expect.any(Number),
        kind: "email.added",
        actor: { id: user.id, login: user.name },
        sudo: null,
        credential: "token",
        token_id: expect.any(Number),
        owner: { id: user.id, login: user.name },
        user: null,
        repository: null,
        target: email,
        details: {},
        address: ADDRESS,
        request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect((await call("GET", path)).status).toBe(401);
    expect((await call("GET", path, { as: user })).status).toBe(403);
    const narrow = await make.token(admin, { scopes: "public-only,all" });
    expect((await call("GET", path, { token: narrow })).status).toBe(403);
    const other = await make.token(admin, { scopes: "read:user" });
    expect((await call("GET", path, { token: other })).status).toBe(403);
  });

  it.each(["asc", "desc"])("continues by its cursor, in order %s", async (order) => {
    const admin = await make.admin();
    const user = await make.user();
    const added: string[] = [];
    for (let count = 0; count < 5; count++) added.push(await addEmail(user));
    const path = `/admin/audit?actor=${user.name}&order=${order}&limit=2`;
    const entries = await listAll(path, { as: admin });
    const inOrder = order === "asc" ? added : added.toReversed();
    expect(entries.map(({ target }) => target)).toEqual(inOrder);
    const { headers: answered } = await call("GET", path, { as: admin });
    expect(answered.get("Link")).toMatch(/[?&]after=\d+.*rel="next"/);
  });

  it("filters by kind, actor and time", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const email = await addEmail(user);
    await call("DELETE", "/user/emails", { as: user, json: { emails: [email] } });
    const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const kindsBy = async (query: string) =>
      (await listAll(`/admin/audit?actor=${user.name}&${query}`, { as: admin })).map(
        ({ kind }) => kind,
      );
    expect(await kindsBy("")).toEqual(["email.added", "email.removed"]);
    expect(await kindsBy("kind=email.removed")).toEqual(["email.removed"]);
    expect(await kindsBy(`since=${at(-1)}&before=${at(1)}`)).toHaveLength(2);
    expect(await kindsBy(`since=${at(1)}`)).toEqual([]);
    expect(await kindsBy(`before=${at(-1)}`)).toEqual([]);
  });

  it("finds an account that no longer exists by the name that it had", async () => {
    const admin = await make.admin();
    const name = freshName("gone");
    await db.insert(auditEvents).values({
      kind: "email.added",
      actorId: 999_999_999,
      actorName: name,
      credential: "token",
      ownerId: 999_999_999,
      ownerName: name,
      details: {},
      requestId: "",
      createdAt: Date.now(),
    });
    const entries = await listAll(`/admin/audit?actor=${name.toUpperCase()}`, { as: admin });
    expect(entries).toMatchObject([{ actor: { login: name } }]);
  });

  it.each([
    ["after=x", "[after]: must be the `next` of an earlier answer"],
    ["kind=none", expect.stringContaining("[kind]: must be")],
    ["order=up", expect.stringContaining("[order]: must be")],
    ["since=yesterday", expect.stringContaining("[since]: must be")],
  ])("refuses the query %s", async (query, message) => {
    const admin = await make.admin();
    expect(await call("GET", `/admin/audit?${query}`, { as: admin })).toMatchObject({
      status: 422,
      body: { message },
    });
  });
});

describe("GET /orgs/{org}/audit", () => {
  it("lists the organization's entries to its owners, and to nobody else", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const team = await make.team(org);
    await call("PUT", `/teams/${team.id}/members/${member.name}`, { as: owner, headers });
    await addEmail(owner);

    const path = `/orgs/${org.name}/audit`;
    expect((await call("GET", path, { as: owner })).body.events).toMatchObject([
      {
        kind: "team.member_added",
        owner: { login: org.name },
        user: { login: member.name },
        target: team.name,
        address: ADDRESS,
      },
    ]);
    expect((await call("GET", path)).status).toBe(401);
    expect((await call("GET", path, { as: member })).status).toBe(403);
    expect((await call("GET", path, { as: await make.user() })).status).toBe(403);
    expect((await call("GET", `/orgs/${owner.name}/audit`, { as: owner })).status).toBe(404);
    const repo = await make.repo({ ...owner, id: org.id, name: org.name });
    const bound = await make.token(owner, { repos: [repo] });
    expect((await call("GET", path, { token: bound })).status).toBe(403);
  });
});

describe("GET /user/audit", () => {
  it("lists what happened to the account, what it did, and what concerned it", async () => {
    const admin = await make.admin();
    const [user, other] = [await make.user(), await make.user()];
    const org = await make.org([other]);
    const team = await make.team(org);
    await addEmail(user);
    await call("PUT", `/teams/${team.id}/members/${user.name}`, { as: other, headers });
    const edit = { as: admin, headers, json: { full_name: "Named" } };
    await call("PATCH", `/admin/users/${user.name}`, edit);
    await call("PATCH", `/admin/users/${other.name}`, edit);

    const entries = await listAll("/user/audit?limit=2", { as: user });
    // SECURITY: an address shows where somebody was.
    expect(entries.map(({ kind, actor, address }) => [kind, actor?.login, address])).toEqual([
      ["email.added", user.name, ADDRESS],
      ["team.member_added", other.name, null],
      ["user.edited", admin.name, null],
    ]);
    expect((await call("GET", "/user/audit")).status).toBe(401);
    const bound = await make.token(user, { repos: [await make.repo(user)] });
    expect((await call("GET", "/user/audit", { token: bound })).status).toBe(403);
  });
});
