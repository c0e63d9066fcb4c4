import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { hashSecret } from "../../../src/auth/secret.ts";
import { oauthApplications } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { make, type TestUser } from "../../support/make.ts";
import { CALLBACK, makeApplication } from "../../support/oauth.ts";
import { statusesOf } from "../../support/statuses.ts";

const PATH = "/user/applications/oauth2";

const applicationsOf = (user: { id: number }) =>
  db.select().from(oauthApplications).where(eq(oauthApplications.ownerId, user.id));

const post = (as: TestUser, json: object) => call("POST", PATH, { as, json });

describe("POST /user/applications/oauth2", () => {
  it("registers the application, shows its secret once and stores a hash of it", async () => {
    const user = await make.user();
    const redirect_uris = [CALLBACK, "http://127.0.0.1:9/cb", "com.example.app:/cb"];

    const { status, body } = await post(user, {
      name: "ci",
      redirect_uris,
      confidential_client: true,
      skip_secondary_authorization: true,
    });

    expect({ status, body }).toEqual({
      status: 201,
      body: {
        id: expect.any(Number),
        name: "ci",
        client_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        client_secret: expect.stringMatching(/^gto_[a-z2-7]{52}$/),
        redirect_uris,
        confidential_client: true,
        skip_secondary_authorization: true,
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    });
    expect(await applicationsOf(user)).toMatchObject([
      { id: body.id, secretHash: await hashSecret(body.client_secret) },
    ]);
    expect((await call("GET", `${PATH}/${body.id}`, { as: user })).body).toEqual({
      ...body,
      client_secret: "",
    });
    expect(await eventsIn(user)).toMatchObject([
      { type: "oauth_application.created", payload: { name: "ci" } },
    ]);
  });

  it("makes a public client unless asked, and allows a name twice and no addresses", async () => {
    const user = await make.user();
    for (const redirect_uris of [[CALLBACK], []]) {
      expect(await post(user, { name: "same", redirect_uris })).toMatchObject({
        status: 201,
        body: { confidential_client: false, skip_secondary_authorization: false, redirect_uris },
      });
    }
  });

  const RULE = "must be an absolute address without a fragment";
  it.each([
    ["no name", { redirect_uris: [CALLBACK] }, "[name]: is required"],
    ["an empty name", { name: "", redirect_uris: [] }, "[name]: must not be empty"],
    ["a long name", { name: "n".repeat(257), redirect_uris: [] }, "[name]: must have at most 256"],
    ["no addresses", { name: "a" }, "[redirect_uris]: is required"],
    ["a text", { name: "a", redirect_uris: CALLBACK }, "[redirect_uris]: must be a list"],
    ["a path", { name: "a", redirect_uris: ["/cb"] }, RULE],
    ["a script", { name: "a", redirect_uris: ["javascript:alert(1)"] }, RULE],
    ["a fragment", { name: "a", redirect_uris: [`${CALLBACK}#x`] }, RULE],
    [
      "51 addresses",
      { name: "a", redirect_uris: Array(51).fill(CALLBACK) },
      "must have at most 50",
    ],
  ])("refuses %s, and registers nothing", async (_, json, message) => {
    const user = await make.user();
    expect(await post(user, json)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining(message) },
    });
    expect(await applicationsOf(user)).toEqual([]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("refuses anonymous callers and tokens that may not, and registers nothing", async () => {
    const user = await make.user();
    const json = { name: "a", redirect_uris: [CALLBACK] };
    const repo = await make.repo(user);
    const tokens = [
      await make.token(user, { scopes: "read:user" }),
      await make.token(user, { scopes: "write:repository" }),
      await make.token(user, { scopes: "public-only,write:user" }),
      await make.token(user, { repos: [repo] }),
    ];
    expect((await call("POST", PATH, { json })).status).toBe(401);
    const answers = await Promise.all(tokens.map((token) => call("POST", PATH, { token, json })));
    expect(statusesOf(answers)).toEqual([403, 403, 403, 403]);
    expect(await applicationsOf(user)).toEqual([]);
  });
});

describe("GET /user/applications/oauth2", () => {
  it("lists the caller's applications, newest first, without secrets", async () => {
    const user = await make.user();
    const ids: number[] = [];
    for (let count = 0; count < 3; count++) ids.unshift((await makeApplication(user)).id);
    await makeApplication(await make.user());

    const all = await call("GET", PATH, { as: user });
    expect(all.body.map(({ id }: { id: number }) => id)).toEqual(ids);
    expect(all.body).toMatchObject(ids.map(() => ({ client_secret: "" })));
    const page = await call("GET", `${PATH}?page=2&limit=2`, { as: user });
    expect(page.body).toMatchObject([{ id: ids[2] }]);
    expect(page.headers.get("x-total-count")).toBe("3");
    expect(page.headers.get("link")).toContain('rel="prev"');
  });

  it("lists the service's own clients for nobody", async () => {
    expect((await call("GET", PATH, { as: await make.admin() })).body).toEqual([]);
  });
});

describe("PATCH /user/applications/oauth2/{id}", () => {
  it("changes what is sent, and replaces the secret", async () => {
    const user = await make.user();
    const { id, clientId, secret } = await makeApplication(user);
    const json = { name: "renamed", redirect_uris: ["https://other.example/cb"] };

    const { status, body } = await call("PATCH", `${PATH}/${id}`, { as: user, json });

    expect({ status, body }).toMatchObject({
      status: 200,
      body: { ...json, client_id: clientId, confidential_client: true },
    });
    expect(body.client_secret).toMatch(/^gto_[a-z2-7]{52}$/);
    expect(body.client_secret).not.toBe(secret);
    expect(await applicationsOf(user)).toMatchObject([
      { name: "renamed", secretHash: await hashSecret(body.client_secret) },
    ]);
    expect(await eventsIn(user)).toMatchObject([
      { type: "oauth_application.edited", payload: { name: "renamed" } },
    ]);
  });

  it("refuses wrong fields and tokens that may not, and changes nothing", async () => {
    const user = await make.user();
    const { id } = await makeApplication(user);
    const before = await applicationsOf(user);
    const token = await make.token(user, { scopes: "read:user" });
    const json = { name: "x", redirect_uris: [CALLBACK] };
    const answers = [
      call("PATCH", `${PATH}/${id}`, { as: user, json: { name: "x" } }),
      call("PATCH", `${PATH}/${id}`, { as: user, json: { ...json, redirect_uris: ["nope"] } }),
      call("PATCH", `${PATH}/${id}`, { token, json }),
      call("PATCH", `${PATH}/${id}`, { json }),
    ];
    expect(statusesOf(await Promise.all(answers))).toEqual([401, 403, 422, 422]);
    expect(await applicationsOf(user)).toEqual(before);
    expect(await eventsIn(user)).toEqual([]);
  });
});

describe("/user/applications/oauth2/{id}", () => {
  it("deletes an application once", async () => {
    const user = await make.user();
    const { id, name } = await makeApplication(user);
    const remove = () => call("DELETE", `${PATH}/${id}`, { as: user });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect(await applicationsOf(user)).toEqual([]);
    expect(await eventsIn(user)).toMatchObject([
      { type: "oauth_application.deleted", payload: { name } },
    ]);
  });

  // SECURITY: not even that the id is taken is known.
  it("does not exist for somebody else, for an unknown id and for the service's own clients", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const mine = await makeApplication(owner);
    const json = { name: "x", redirect_uris: [CALLBACK] };
    const [builtIn] = await db
      .select()
      .from(oauthApplications)
      .where(eq(oauthApplications.name, "tea"));
    for (const id of [mine.id, builtIn?.id, 99_999_999, "abc"]) {
      const answers = [
        call("GET", `${PATH}/${id}`, { as: other }),
        call("PATCH", `${PATH}/${id}`, { as: other, json }),
        call("DELETE", `${PATH}/${id}`, { as: other }),
      ];
      expect(statusesOf(await Promise.all(answers))).toEqual([404, 404, 404]);
    }
    const { secret: _, ...row } = mine;
    expect(await applicationsOf(owner)).toEqual([row]);
    expect(await eventsIn(other)).toEqual([]);
  });
});
