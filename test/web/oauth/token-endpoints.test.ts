import { and, eq, isNotNull } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { hashSecret } from "../../../src/auth/secret.ts";
import { accessTokens, oauthGrants, users } from "../../../src/db/schema/index.ts";
import { CODE_LIFE_MS, REFRESH_LIFE_MS } from "../../../src/domain/people/oauth/grant-secrets.ts";
import { only } from "../../../src/lib/only.ts";
import { basic, call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { make } from "../../support/make.ts";
import {
  CALLBACK,
  clientFields,
  exchange,
  makeApplication,
  makeCodeFor,
  makeTokens,
  PKCE,
  postForm,
  refresh,
} from "../../support/oauth.ts";

const grantsOf = (user: { id: number }) =>
  db.select().from(oauthGrants).where(eq(oauthGrants.userId, user.id));

const tokensOf = (user: { id: number }) =>
  db
    .select()
    .from(accessTokens)
    .where(and(eq(accessTokens.userId, user.id), isNotNull(accessTokens.grantId)));

const statusOf = async (token: string, path = "/user") =>
  (await call("GET", path, { token })).status;

describe("POST /login/oauth/access_token with a code", () => {
  it("answers tokens with the scopes that were granted, and stores hashes of them", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const scope = "read:repository read:user write:user public-only";
    const code = await makeCodeFor(user, application, { scope });

    const { status, headers, body } = await exchange(application, code);

    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.stringMatching(/^[0-9a-f]{40}$/),
        token_type: "bearer",
        expires_in: 3600,
        refresh_token: expect.stringMatching(/^gtr_[0-9a-f]{80}$/),
        scope: "public-only read:repository write:user",
      },
    });
    expect(headers.get("cache-control")).toBe("no-store");
    const [grant, token] = [only(await grantsOf(user)), only(await tokensOf(user))];
    expect(grant).toMatchObject({
      codeHash: await hashSecret(code),
      refreshHash: await hashSecret(body.refresh_token),
      scopes: "public-only,read:repository,write:user",
    });
    expect(token).toMatchObject({
      grantId: grant.id,
      secretHash: await hashSecret(body.access_token),
      scopes: grant.scopes,
      expiresAt: token.createdAt + 3_600_000,
    });
    expect(await eventsIn(user)).toMatchObject([
      { type: "oauth_grant.created", payload: { name: application.name } },
    ]);
  });

  it("takes the client's credentials as Basic, and the request as JSON", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const { clientId, secret } = application;
    const fields = { grant_type: "authorization_code", redirect_uri: CALLBACK };

    const byHeader = await postForm(
      "access_token",
      { ...fields, code: await makeCodeFor(user, application) },
      basic(encodeURIComponent(clientId), secret),
    );
    const byJson = await visit("POST", "/login/oauth/access_token", {
      json: { ...fields, ...clientFields(application), code: await makeCodeFor(user, application) },
    });

    expect([byHeader.status, byJson.status]).toEqual([200, 200]);
  });

  it("exchanges the code of a public client with the verifier of its challenge", async () => {
    const user = await make.user();
    const application = await makeApplication(user, { isConfidential: false });
    const code = await makeCodeFor(user, application, { codeChallenge: PKCE.challenge });
    const { status } = await exchange(application, code, { code_verifier: PKCE.verifier });
    expect(status).toBe(200);
  });

  // SECURITY: whoever is second may be the one whose code was stolen.
  it("ends the grant and the tokens of the first use when a code is used again", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const code = await makeCodeFor(user, application);
    const { body } = await exchange(application, code);
    expect(await statusOf(body.access_token)).toBe(200);

    const again = await exchange(application, code);

    expect(again).toMatchObject({
      status: 400,
      body: { error: "unauthorized_client", error_description: "client is not authorized" },
    });
    expect(await statusOf(body.access_token)).toBe(401);
    expect((await refresh(application, body.refresh_token)).status).toBe(400);
    expect(await grantsOf(user)).toEqual([]);
    expect(await eventsIn(user)).toMatchObject([
      { type: "oauth_grant.created" },
      { type: "oauth_grant.revoked", payload: { name: application.name } },
    ]);
  });

  it("gives the tokens of a code to one of several requests at once at most", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const code = await makeCodeFor(user, application);
    const answers = await Promise.all([1, 2, 3, 4].map(() => exchange(application, code)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(await grantsOf(user)).toEqual([]);
    expect(await tokensOf(user)).toEqual([]);
  });

  it("ends nothing when another client uses a code that was used", async () => {
    const user = await make.user();
    const [application, other] = [await makeApplication(user), await makeApplication(user)];
    const code = await makeCodeFor(user, application);
    const { body } = await exchange(application, code);
    expect(await exchange(other, code)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    expect(await statusOf(body.access_token)).toBe(200);
  });

  const CONFIDENTIAL = {};
  const PUBLIC = { isConfidential: false };
  const WITH_CHALLENGE = { codeChallenge: PKCE.challenge };
  it.each([
    ["an unknown code", CONFIDENTIAL, {}, { code: "gta_none" }, "unauthorized_client"],
    ["no code", CONFIDENTIAL, {}, { code: "" }, "unauthorized_client"],
    ["an unknown client", CONFIDENTIAL, {}, { client_id: "none" }, "invalid_client"],
    ["no client", CONFIDENTIAL, {}, { client_id: "" }, "invalid_client"],
    ["a wrong secret", CONFIDENTIAL, {}, { client_secret: "gto_wrong" }, "unauthorized_client"],
    ["no secret", CONFIDENTIAL, {}, { client_secret: "" }, "unauthorized_client"],
    [
      "a wrong secret of a public client",
      PUBLIC,
      WITH_CHALLENGE,
      { client_secret: "x", code_verifier: PKCE.verifier },
      "unauthorized_client",
    ],
    ["no redirect URI", CONFIDENTIAL, {}, { redirect_uri: "" }, "unauthorized_client"],
    [
      "another redirect URI",
      CONFIDENTIAL,
      {},
      { redirect_uri: `${CALLBACK}/` },
      "unauthorized_client",
    ],
    ["no verifier", CONFIDENTIAL, WITH_CHALLENGE, {}, "unauthorized_client"],
    [
      "a wrong verifier",
      PUBLIC,
      WITH_CHALLENGE,
      { code_verifier: `${PKCE.verifier}x` },
      "unauthorized_client",
    ],
    [
      "the challenge as verifier",
      PUBLIC,
      WITH_CHALLENGE,
      { code_verifier: PKCE.challenge },
      "unauthorized_client",
    ],
    [
      "a verifier without a challenge",
      CONFIDENTIAL,
      {},
      { code_verifier: PKCE.verifier },
      "unauthorized_client",
    ],
    [
      "an old code",
      CONFIDENTIAL,
      { now: Date.now() - CODE_LIFE_MS - 1 },
      {},
      "unauthorized_client",
    ],
  ])("refuses %s, and issues nothing", async (_, application, granting, fields, error) => {
    const user = await make.user();
    const client = await makeApplication(user, application);
    const code = await makeCodeFor(user, client, granting);
    expect(await exchange(client, code, fields)).toMatchObject({ status: 400, body: { error } });
    expect(await tokensOf(user)).toEqual([]);
    expect(await grantsOf(user)).toMatchObject([{ exchangedAt: null, refreshHash: null }]);
  });

  it.each(["isLoginProhibited", "mustChangePassword"] as const)(
    "refuses the code of an account with %s",
    async (flag) => {
      const user = await make.user({ [flag]: true });
      const application = await makeApplication(user);
      const { status } = await exchange(application, await makeCodeFor(user, application));
      expect(status).toBe(400);
      expect(await tokensOf(user)).toEqual([]);
    },
  );

  it("refuses other types of grants, requests that can't be read, and two clients in one", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const client = clientFields(application);
    const path = "/login/oauth/access_token";
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const answers = [
      [await postForm("access_token", {}), "unsupported_grant_type"],
      [
        await postForm("access_token", { ...client, grant_type: "password" }),
        "unsupported_grant_type",
      ],
      [
        await postForm("access_token", { ...client, grant_type: "client_credentials" }),
        "unsupported_grant_type",
      ],
      [await visit("POST", path, { body: "code=a&code=b", headers: form }), "invalid_request"],
      [
        await visit("POST", path, { body: "{", headers: { "Content-Type": "application/json" } }),
        "invalid_request",
      ],
      [await visit("POST", path, { json: { code: 1 } }), "invalid_request"],
      [
        await visit("POST", path, { body: "x", headers: { "Content-Type": "text/plain" } }),
        "invalid_request",
      ],
      [
        await visit("POST", path, { body: `code=${"x".repeat(20_000)}`, headers: form }),
        "invalid_request",
      ],
      [await postForm("access_token", {}, { Authorization: "Basic !!!" }), "invalid_request"],
      [
        await postForm("access_token", {}, { Authorization: `Basic ${btoa("none")}` }),
        "invalid_request",
      ],
      [await postForm("access_token", client, basic("another", "x")), "invalid_request"],
      [await postForm("access_token", client, basic(application.clientId, "x")), "invalid_request"],
    ] as const;
    for (const [{ status, body }, error] of answers) {
      expect({ status, body }).toMatchObject({ status: 400, body: { error } });
    }
    const get = await visit("GET", path);
    expect(get.status).toBe(405);
    expect(get.headers.get("allow")).toBe("OPTIONS, POST");
  });
});

describe("POST /login/oauth/access_token with a refresh token", () => {
  it("answers the next tokens, and leaves the access token as long as it is valid", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const first = await makeTokens(user, application);

    const { status, body } = await refresh(application, first.refresh);

    expect(status).toBe(200);
    expect(body.refresh_token).not.toBe(first.refresh);
    expect(body.scope).toBe("read:user");
    expect([await statusOf(first.access), await statusOf(body.access_token)]).toEqual([200, 200]);
    expect((await refresh(application, body.refresh_token)).status).toBe(200);
    expect(await eventsIn(user)).toMatchObject([{ type: "oauth_grant.created" }]);
  });

  // SECURITY: as with a code, one of the two stole it.
  it("ends the grant and all its tokens when a refresh token is used again", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const first = await makeTokens(user, application);
    const { body: second } = await refresh(application, first.refresh);

    const again = await refresh(application, first.refresh);

    expect(again).toMatchObject({
      status: 400,
      body: { error: "unauthorized_client", error_description: "token was already used" },
    });
    expect(await statusOf(first.access)).toBe(401);
    expect(await statusOf(second.access_token)).toBe(401);
    expect((await refresh(application, second.refresh_token)).body.error).toBe("invalid_grant");
    expect(await tokensOf(user)).toEqual([]);
  });

  it("leaves other grants of the same user and application", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const [laptop, desktop] = [
      await makeTokens(user, application),
      await makeTokens(user, application),
    ];
    await refresh(application, laptop.refresh);
    await refresh(application, laptop.refresh);
    expect([await statusOf(laptop.access), await statusOf(desktop.access)]).toEqual([401, 200]);
  });

  it("narrows the access token's scopes for once, and never widens them", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const first = await makeTokens(user, application, { scope: "write:user read:repository" });
    const narrow = await refresh(application, first.refresh, { scope: "read:user" });
    expect(narrow.body.scope).toBe("read:user");
    const token = narrow.body.access_token;
    expect([await statusOf(token), await statusOf(token, "/repos/search")]).toEqual([200, 403]);

    const wide = await refresh(application, narrow.body.refresh_token, { scope: "all" });
    expect(wide).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
    const whole = await refresh(application, narrow.body.refresh_token);
    expect(whole.body.scope).toBe("read:repository write:user");
  });

  it("refuses other clients, other tokens, old grants and accounts that may not sign in", async () => {
    const user = await make.user();
    const application = await makeApplication(await make.user());
    const other = await makeApplication(user);
    const first = await makeTokens(user, application);
    const old = await makeApplication(user);
    const expired = await makeTokens(user, old);
    await db
      .update(oauthGrants)
      .set({ expiresAt: Date.now() - 1 })
      .where(eq(oauthGrants.applicationId, old.id));

    const refusals = [
      [await refresh(other, first.refresh), "invalid_grant"],
      [await refresh(application, first.access), "unauthorized_client"],
      [await refresh(application, "abc"), "unauthorized_client"],
      [await refresh(application, ""), "unauthorized_client"],
      [await refresh(application, `gtr_${"0".repeat(80)}`), "invalid_grant"],
      [await refresh(application, first.refresh, { client_secret: "wrong" }), "invalid_client"],
      [await refresh(application, first.refresh, { client_secret: "" }), "invalid_client"],
      [await refresh(application, first.refresh, { client_id: "none" }), "invalid_client"],
      [await refresh(old, expired.refresh), "invalid_grant"],
    ] as const;
    for (const [{ status, body }, error] of refusals) {
      expect({ status, body }).toMatchObject({ status: 400, body: { error } });
    }
    await db.update(users).set({ isLoginProhibited: true }).where(eq(users.id, user.id));
    expect((await refresh(application, first.refresh)).body.error).toBe("invalid_grant");
    await db.update(users).set({ isLoginProhibited: false }).where(eq(users.id, user.id));
    // None of them used the token up.
    expect((await refresh(application, first.refresh)).status).toBe(200);
  });

  it("holds ten access tokens of a grant at most", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    let token = (await makeTokens(user, application)).refresh;
    for (let count = 0; count < 12; count++) {
      token = (await refresh(application, token)).body.refresh_token;
    }
    expect(await tokensOf(user)).toHaveLength(10);
  });

  it("extends the grant", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const first = await makeTokens(user, application);
    const soon = Date.now() + 1000;
    await db.update(oauthGrants).set({ expiresAt: soon }).where(eq(oauthGrants.userId, user.id));
    await refresh(application, first.refresh);
    expect(only(await grantsOf(user)).expiresAt).toBeGreaterThan(soon + REFRESH_LIFE_MS - 60_000);
  });
});

describe("POST /login/oauth/introspect", () => {
  it("describes the client's own tokens", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const tokens = await makeTokens(user, application, { scope: "openid read:user" });
    for (const [token, type] of [
      [tokens.access, "bearer"],
      [tokens.refresh, undefined],
    ] as const) {
      const { status, body } = await postForm(
        "introspect",
        { token },
        basic(application.clientId, application.secret),
      );
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          active: true,
          scope: "openid read:user",
          client_id: application.clientId,
          username: user.name,
          ...(type !== undefined && { token_type: type }),
          exp: expect.any(Number),
          iat: expect.any(Number),
          iss: "https://forge.example",
          aud: application.clientId,
          sub: String(user.id),
        },
      });
    }
  });

  // SECURITY: a client could otherwise learn whose token it found.
  it("says of every other token only that it is not active", async () => {
    const user = await make.user();
    const [application, other] = [await makeApplication(user), await makeApplication(user)];
    const tokens = await makeTokens(user, application);
    const used = tokens.refresh;
    const { body } = await refresh(application, used);
    await db
      .update(accessTokens)
      .set({ expiresAt: Date.now() - 1 })
      .where(eq(accessTokens.secretHash, await hashSecret(tokens.access)));
    const ask = (client: typeof other, token: string) =>
      postForm("introspect", { token, ...clientFields(client) });

    for (const [client, token] of [
      [other, body.access_token],
      [other, body.refresh_token],
      [application, used],
      [application, tokens.access],
      [application, user.token],
      [application, ""],
      [application, "abc"],
    ] as const) {
      expect(await ask(client, token)).toMatchObject({ status: 200, body: { active: false } });
      expect(Object.keys((await ask(client, token)).body)).toEqual(["active"]);
    }
  });

  it("refuses users, public clients and wrong secrets", async () => {
    const user = await make.userWithPassword();
    const application = await makeApplication(user);
    const open = await makeApplication(user, { isConfidential: false });
    const { access } = await makeTokens(user, application);
    const answers = [
      await postForm("introspect", { token: access }),
      await postForm("introspect", { token: access }, basic(user.name, user.password)),
      await postForm("introspect", { token: access, ...clientFields(open) }),
      await postForm("introspect", {
        token: access,
        client_id: open.clientId,
        client_secret: open.secret,
      }),
      await postForm("introspect", { token: access }, basic(application.clientId, "wrong")),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  });
});

describe("POST /login/oauth/revoke", () => {
  it("ends an access token alone, and a refresh token with its grant", async () => {
    const user = await make.user();
    const application = await makeApplication(user, { isConfidential: false });
    const code = await makeCodeFor(user, application, { codeChallenge: PKCE.challenge });
    const { body } = await exchange(application, code, { code_verifier: PKCE.verifier });
    const { body: second } = await refresh(application, body.refresh_token);
    const revoke = (token: string) =>
      postForm("revoke", { token, client_id: application.clientId });

    expect((await revoke(body.access_token)).status).toBe(200);
    expect([await statusOf(body.access_token), await statusOf(second.access_token)]).toEqual([
      401, 200,
    ]);
    // A refresh token that was replaced still names its grant.
    expect((await revoke(body.refresh_token)).status).toBe(200);
    expect(await statusOf(second.access_token)).toBe(401);
    expect(await grantsOf(user)).toEqual([]);
    expect((await revoke(body.refresh_token)).status).toBe(200);
    expect(await eventsIn(user)).toMatchObject([
      { type: "oauth_grant.created" },
      { type: "oauth_grant.revoked" },
    ]);
  });

  it("leaves tokens that the client does not have", async () => {
    const user = await make.user();
    const [application, other] = [await makeApplication(user), await makeApplication(user)];
    const tokens = await makeTokens(user, application);
    const theirs = [tokens.access, tokens.refresh, user.token];
    for (const token of theirs) {
      expect((await postForm("revoke", { token, ...clientFields(other) })).status).toBe(200);
    }
    const wrong = { ...clientFields(application), client_secret: "wrong" };
    expect((await postForm("revoke", { token: tokens.refresh, ...wrong })).status).toBe(401);
    expect((await postForm("revoke", { token: tokens.refresh })).status).toBe(401);

    expect([await statusOf(tokens.access), await statusOf(user.token)]).toEqual([200, 200]);
    expect((await refresh(application, tokens.refresh)).status).toBe(200);
  });
});

describe("/login/oauth/userinfo", () => {
  const ask = (token: string, method = "GET") =>
    visit(method, "/login/oauth/userinfo", { headers: { Authorization: `Bearer ${token}` } });

  // SECURITY: a client of a sign-in learns what its user granted, and no more.
  it("gives the claims of each scope that was granted", async () => {
    const user = await make.user({ fullName: "Ann Example", website: "https://ann.example" });
    const org = await make.org([user]);
    const hidden = await make.org([user], { visibility: "private" });
    const application = await makeApplication(user);
    const claims = async (scope: string) => {
      const { access } = await makeTokens(user, application, { scope });
      return (await ask(access)).body;
    };
    const sub = String(user.id);
    const profile = {
      name: "Ann Example",
      preferred_username: user.name,
      profile: `https://forge.example/${user.name}`,
      picture: `https://forge.example/avatars/${user.id}`,
      website: "https://ann.example",
      updated_at: 1,
    };
    const email = { email: user.email, email_verified: true };
    const groups = [org.name, hidden.name, `${org.name}:owners`, `${hidden.name}:owners`];

    expect(await claims("openid")).toEqual({ sub });
    expect(await claims("openid profile")).toEqual({ sub, ...profile });
    expect(await claims("openid email")).toEqual({ sub, ...email });
    const found = await claims("openid groups");
    expect({ ...found, groups: found.groups.toSorted() }).toEqual({
      sub,
      groups: groups.toSorted(),
    });
    const open = await claims("openid groups public-only");
    expect(open).toEqual({ sub, groups: [org.name, `${org.name}:owners`] });
    expect(await claims("read:user")).toEqual({ sub, ...profile, ...email });
    expect(
      (await ask((await makeTokens(user, application, { scope: "openid" })).access, "POST")).body,
    ).toEqual({ sub });
  });

  it("refuses what is no access token of an application, and one without the scope", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const tokens = await makeTokens(user, application, { scope: "openid" });
    const narrow = await makeTokens(user, application, { scope: "read:repository" });
    for (const token of [tokens.refresh, user.token, "nothing"]) {
      const { status, headers } = await ask(token);
      expect(status).toBe(401);
      expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
    }
    expect((await ask(narrow.access)).status).toBe(403);
    const { status, headers, body } = await visit("GET", "/login/oauth/userinfo", {
      headers: basic(user.name, "x"),
    });
    expect({ status, body }).toEqual({ status: 401, body: "no valid authorization" });
    expect(headers.get("www-authenticate")).toBe('Bearer realm="Edgeforge OAuth2"');
  });
});

describe("an access token of an application", () => {
  it("is sent in every form that a personal token has, with its scopes", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const { access } = await makeTokens(user, application, { scope: "read:user" });
    const forms = [
      { Authorization: `Bearer ${access}` },
      { Authorization: `token ${access}` },
      basic("oauth2", access),
      basic(user.name, access),
      basic(access, ""),
      basic(access, "x-oauth-basic"),
    ];
    for (const headers of forms) {
      expect((await call("GET", "/user", { headers })).status).toBe(200);
      expect((await call("GET", "/user/repos", { headers })).status).toBe(403);
      expect(
        (await call("POST", "/user/emails", { headers, json: { emails: ["x@example.com"] } }))
          .status,
      ).toBe(403);
    }
  });

  it("opens nothing where only a sign-in was granted", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const { access } = await makeTokens(user, application, { scope: "openid profile email" });
    expect([await statusOf(access), await statusOf(access, "/repos/search")]).toEqual([403, 403]);
    expect(await statusOf(access, "/version")).toBe(200);
  });

  it("is among no personal tokens, which it can neither create nor be deleted as", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const { access } = await makeTokens(user, application, { scope: "all" });
    const path = `/users/${user.name}/tokens`;
    const { id } = only(await tokensOf(user));

    const listed = await call("GET", path, { as: user });
    expect(listed.body).toHaveLength(1);
    expect(listed.headers.get("x-total-count")).toBe("1");
    for (const each of [id, application.name]) {
      expect((await call("DELETE", `${path}/${each}`, { as: user })).status).toBe(404);
    }
    // SECURITY: such a token would outlive the revocation of the application.
    for (const headers of [{ Authorization: `token ${access}` }, basic(user.name, access)]) {
      const json = { name: "more", scopes: ["all"] };
      expect((await call("POST", path, { headers, json })).status).toBe(403);
    }
    expect((await call("GET", path, { as: user })).body).toHaveLength(1);
  });

  it("ends with its hour, with its application and with its user's right to sign in", async () => {
    const user = await make.user();
    const [application, other] = [await makeApplication(user), await makeApplication(user)];
    const first = await makeTokens(user, application);
    const second = await makeTokens(user, other);
    await db
      .update(accessTokens)
      .set({ expiresAt: Date.now() - 1 })
      .where(eq(accessTokens.secretHash, await hashSecret(first.access)));
    expect(await statusOf(first.access)).toBe(401);
    await call("DELETE", `/user/applications/oauth2/${other.id}`, { as: user });
    expect(await statusOf(second.access)).toBe(401);
    expect((await refresh(other, second.refresh)).body.error).toBe("invalid_client");

    const third = await makeTokens(user, application);
    await db.update(users).set({ isActive: false }).where(eq(users.id, user.id));
    expect(await statusOf(third.access)).toBe(403);
  });
});
