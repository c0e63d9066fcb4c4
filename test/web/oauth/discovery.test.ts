import { createLocalJWKSet, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";

import { formatBase64 } from "../../../src/lib/base64.ts";
import { visit } from "../../support/call.ts";
import { make } from "../../support/make.ts";
import {
  CALLBACK,
  clientFields,
  exchange,
  makeApplication,
  makeCodeFor,
  postForm,
} from "../../support/oauth.ts";
import { doorsWith } from "../../support/service.ts";

/** A new key in PEM, as an operator makes it. */
async function makeKey(): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey(
    {
      name: "RSASSA-PKCS1-v1_5",
      hash: "SHA-256",
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
    },
    true,
    ["sign", "verify"],
  );
  const bytes = await crypto.subtle.exportKey("pkcs8", privateKey);
  const lines = formatBase64(new Uint8Array(bytes)).match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
}

const [first, second] = [await makeKey(), await makeKey()];
const signing = doorsWith({ OAUTH_SIGNING_KEYS: first });

describe("the documents of the provider", () => {
  it("name its endpoints under the service's own address", async () => {
    const { status, body } = await signing("GET", "/.well-known/openid-configuration");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      issuer: "https://forge.example",
      authorization_endpoint: "https://forge.example/login/oauth/authorize",
      token_endpoint: "https://forge.example/login/oauth/access_token",
      jwks_uri: "https://forge.example/login/oauth/keys",
      userinfo_endpoint: "https://forge.example/login/oauth/userinfo",
      introspection_endpoint: "https://forge.example/login/oauth/introspect",
      revocation_endpoint: "https://forge.example/login/oauth/revoke",
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      id_token_signing_alg_values_supported: ["RS256"],
      subject_types_supported: ["public"],
    });
    expect(body.scopes_supported).toEqual(
      expect.arrayContaining(["openid", "profile", "email", "groups", "read:user", "all"]),
    );
    const other = await signing("GET", "/.well-known/oauth-authorization-server");
    expect(other.body).toEqual(body);
  });

  it("offer no sign-in where the service has no key to sign it with", async () => {
    expect((await visit("GET", "/.well-known/openid-configuration")).status).toBe(404);
    const { body } = await visit("GET", "/.well-known/oauth-authorization-server");
    expect(body.scopes_supported).not.toContain("openid");
    expect(body).not.toHaveProperty("id_token_signing_alg_values_supported");
    expect((await visit("GET", "/login/oauth/keys")).body).toEqual({ keys: [] });
  });

  it("describe the door for agents, and the service, as protected resources", async () => {
    const { headers, body } = await visit("GET", "/.well-known/oauth-protected-resource/mcp", {
      headers: { Origin: "https://inspector.example", "MCP-Protocol-Version": "2026-07-28" },
    });
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(body).toEqual({
      resource: "https://forge.example/mcp",
      authorization_servers: ["https://forge.example"],
      scopes_supported: [
        "write:repository",
        "write:issue",
        "write:notification",
        "read:organization",
        "read:package",
        "write:user",
      ],
      bearer_methods_supported: ["header"],
      resource_name: "Edgeforge",
      resource_documentation: "https://forge.example/docs/oauth2",
    });
    const service = await visit("GET", "/.well-known/oauth-protected-resource");
    expect(service.body).toEqual({ ...body, resource: "https://forge.example" });
    const other = await visit("GET", "/.well-known/oauth-protected-resource/api/v1");
    expect(other.status).toBe(404);
  });

  it("say how clients register, and that answers name this service", async () => {
    const { body } = await visit("GET", "/.well-known/oauth-authorization-server");
    expect(body).toMatchObject({
      registration_endpoint: "https://forge.example/login/oauth/register",
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      protected_resources: ["https://forge.example/mcp"],
      token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
    });
    // Every grant has a refresh token: a client that knew the scope would ask for consent by it.
    expect(body.scopes_supported).not.toContain("offline_access");
  });

  // SECURITY: at an address with a path stands what another issuer says. Clients go on from 404.
  it.each([
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/openid-configuration/mcp",
    "/mcp/.well-known/openid-configuration",
    "/mcp/.well-known/oauth-authorization-server",
  ])("are not there for another issuer: %s", async (path) => {
    expect((await signing("GET", path)).status).toBe(404);
  });

  // SECURITY: the private half stays here.
  it("publish the public halves of all keys, and nothing else of them", async () => {
    const both = doorsWith({ OAUTH_SIGNING_KEYS: `${second}${first}` });
    const { keys } = (await both("GET", "/login/oauth/keys")).body;
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(key).toEqual({
        kty: "RSA",
        n: expect.any(String),
        e: "AQAB",
        kid: expect.any(String),
        use: "sig",
        alg: "RS256",
      });
    }
    expect((await signing("GET", "/login/oauth/keys")).body.keys).toEqual([keys[1]]);
  });
});

describe("an ID token", () => {
  const scope = "openid profile email groups";

  it("states the user to the client that asked, signed by the published key", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const code = await makeCodeFor(user, application, { scope, nonce: "n-1" });
    const { body } = await exchange(application, code, {}, signing);
    const keys = createLocalJWKSet((await signing("GET", "/login/oauth/keys")).body);

    const { payload, protectedHeader } = await jwtVerify(body.id_token, keys, {
      issuer: "https://forge.example",
      audience: application.clientId,
    });

    expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT", kid: expect.any(String) });
    expect(payload).toMatchObject({
      sub: String(user.id),
      nonce: "n-1",
      auth_time: 1_700_000_000,
      preferred_username: user.name,
      email: user.email,
      email_verified: true,
      groups: [],
    });
    expect(payload.exp).toBe((payload.iat ?? 0) + 3600);
    // SECURITY: it says who somebody is, and opens nothing.
    for (const Authorization of [`Bearer ${body.id_token}`, `token ${body.id_token}`]) {
      const headers = { Authorization };
      expect((await signing("GET", "/api/v1/user", { headers })).status).toBe(401);
      expect((await signing("GET", "/login/oauth/userinfo", { headers })).status).toBe(401);
    }
  });

  it("comes with a refresh again, without the nonce, and not without openid", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const code = await makeCodeFor(user, application, { scope: "openid", nonce: "n-1" });
    const { body } = await exchange(application, code, {}, signing);
    const again = await postForm(
      "access_token",
      {
        grant_type: "refresh_token",
        refresh_token: body.refresh_token,
        ...clientFields(application),
      },
      {},
      signing,
    );
    const payload = JSON.parse(
      atob(again.body.id_token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")),
    );
    expect(payload).toMatchObject({ sub: String(user.id), aud: application.clientId });
    expect(payload).not.toHaveProperty("nonce");

    const without = await makeCodeFor(user, application, { scope: "profile" });
    const answer = await exchange(application, without, { redirect_uri: CALLBACK }, signing);
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty("id_token");
  });
});
