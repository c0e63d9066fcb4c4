import * as client from "openid-client";
import { describe, expect, it } from "vitest";

import { callApi, type Caller, makeRepo, makeUser, serviceUrl, urlAs } from "../support/forge.ts";
import { clone, commit, git, makeDirectory, tryGit } from "../support/git.ts";
import { Reader } from "../support/reader.ts";

const CALLBACK = "http://127.0.0.1:9/callback";

interface Application {
  client_id: string;
  client_secret: string;
}

/** Registers an application, and discovers the service for it. */
async function register(owner: Caller, isConfidential: boolean): Promise<client.Configuration> {
  const body = {
    name: "a client",
    redirect_uris: ["http://127.0.0.1/callback"],
    confidential_client: isConfidential,
  };
  if (isConfidential) body.redirect_uris = [CALLBACK];
  const path = "/user/applications/oauth2";
  const registered = await callApi<Application>(owner, "POST", path, body);
  return client.discovery(
    new URL(serviceUrl),
    registered.client_id,
    undefined,
    isConfidential ? client.ClientSecretPost(registered.client_secret) : client.None(),
    { execute: [client.allowInsecureRequests] },
  );
}

/** The code flow with PKCE, state and nonce, as the library's documentation shows it. */
async function authorize(config: client.Configuration, user: Caller, scope: string) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: expectedState,
    nonce: expectedNonce,
  });
  const reader = await Reader.signedIn(user);
  const answer = await reader.grant(address);
  const isOpenId = scope.includes("openid");
  const tokens = await client.authorizationCodeGrant(config, answer, {
    pkceCodeVerifier,
    expectedState,
    ...(isOpenId && { expectedNonce }),
  });
  return { tokens, reader, address, answer };
}

const statusOf = async (token: string, path = "/user"): Promise<number> => {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${serviceUrl}/api/v1${path}`, { headers })).status;
};

describe("openid-client", () => {
  it.each([true, false])(
    "discovers the service, signs a user in, refreshes and revokes (confidential: %s)",
    async (isConfidential) => {
      const user = await makeUser();
      const config = await register(await makeUser(), isConfidential);
      const { tokens } = await authorize(config, user, "openid profile email groups read:user");

      const claims = tokens.claims();
      const { id } = await callApi<{ id: number }>(user, "GET", "/user");
      expect(claims).toMatchObject({
        iss: serviceUrl,
        aud: config.clientMetadata().client_id,
        sub: String(id),
        preferred_username: user.name,
        email: `${user.name}@example.com`,
        groups: [],
      });
      const info = await client.fetchUserInfo(config, tokens.access_token, String(id));
      expect(info).toMatchObject({ sub: String(id), preferred_username: user.name });
      expect(await statusOf(tokens.access_token)).toBe(200);
      expect(await statusOf(tokens.access_token, "/user/repos")).toBe(403);

      const first = tokens.refresh_token ?? "";
      const second = await client.refreshTokenGrant(config, first);
      expect(second.claims()?.sub).toBe(String(id));
      expect(await statusOf(second.access_token)).toBe(200);
      await client.tokenRevocation(config, second.refresh_token ?? "");
      expect(await statusOf(second.access_token)).toBe(401);
      await expect(
        client.refreshTokenGrant(config, second.refresh_token ?? ""),
      ).rejects.toMatchObject({ error: "invalid_grant" });
    },
  );

  it("introspects a token", async () => {
    const user = await makeUser();
    const config = await register(user, true);
    const { tokens } = await authorize(config, user, "read:user");
    expect(await client.tokenIntrospection(config, tokens.access_token)).toMatchObject({
      active: true,
      username: user.name,
      scope: "read:user",
    });
  });

  it("loses its grant where a refresh token is used twice", async () => {
    const user = await makeUser();
    const config = await register(user, true);
    const { tokens } = await authorize(config, user, "read:user");
    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
    await expect(
      client.refreshTokenGrant(config, tokens.refresh_token ?? ""),
    ).rejects.toMatchObject({ error: "unauthorized_client" });
    expect(await statusOf(next.access_token)).toBe(401);
  });

  it("is not asked again for what its user granted, and gets an answer without a page", async () => {
    const user = await makeUser();
    const config = await register(user, true);
    const { reader, address } = await authorize(config, user, "openid");
    address.searchParams.set("prompt", "none");
    const answer = await reader.get(address.href);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?code=gta_/);
  });
});

describe("git with an access token of an application", () => {
  it("clones and pushes as far as the scopes reach, until the grant ends", async () => {
    const user = await makeUser();
    const config = await register(user, false);
    const repo = await makeRepo(user, { private: true, auto_init: true });
    const wide = (await authorize(config, user, "write:repository")).tokens;
    const narrow = (await authorize(config, user, "read:repository")).tokens;
    const other = (await authorize(config, user, "read:user")).tokens;

    for (const name of ["oauth2", user.name]) {
      const work = await clone(urlAs(repo.url, name, wide.access_token));
      await commit(work, { [name]: "pushed" });
      await git(work, ["push", "--quiet", "origin", "HEAD"]);
    }
    const read = await clone(urlAs(repo.url, "oauth2", narrow.access_token));
    await commit(read, { refused: "" });
    expect((await tryGit(read, ["push", "origin", "HEAD"])).code).not.toBe(0);
    const list = (token: string) =>
      tryGit(makeDirectory(), ["ls-remote", urlAs(repo.url, "oauth2", token)]);
    expect((await list(other.access_token)).code).not.toBe(0);
    expect((await list(wide.access_token)).code).toBe(0);

    await client.tokenRevocation(config, wide.refresh_token ?? "");

    expect((await list(wide.access_token)).code).not.toBe(0);
    expect((await list(narrow.access_token)).code).toBe(0);
  });
});
