import { describe, expect, it } from "vitest";

import { call, visit } from "../support/call.ts";
import { make } from "../support/make.ts";
import { doorsWith } from "../support/service.ts";

const APP = "https://app.example";
const PAGING = [
  "Link",
  "X-Total-Count",
  "X-Page",
  "X-PerPage",
  "X-PageCount",
  "X-HasMore",
  "X-Total",
];

const preflight = (path: string, method: string, by = visit, Origin = APP) =>
  by("OPTIONS", path, {
    headers: {
      Origin,
      "Access-Control-Request-Method": method,
      "Access-Control-Request-Headers": "authorization,content-type",
    },
  });

const listOf = (headers: Headers, name: string) => (headers.get(name) ?? "").split(/, */);

describe("a script of another origin", () => {
  it.each([
    ["/api/v1/user/repos", "POST"],
    ["/api/v1/repos/nobody/nothing", "PATCH"],
    ["/login/oauth/access_token", "POST"],
    ["/login/oauth/register", "POST"],
    ["/login/oauth/userinfo", "GET"],
    ["/.well-known/oauth-protected-resource/mcp", "GET"],
    ["/.well-known/openid-configuration", "GET"],
  ])("may ask whether it may call %s", async (path, method) => {
    const { status, headers, body } = await preflight(path, method);
    expect({ status, body }).toEqual({ status: 204, body: "" });
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(listOf(headers, "access-control-allow-methods")).toContain(method);
    expect(listOf(headers, "access-control-allow-headers")).toEqual(
      expect.arrayContaining([
        "Authorization",
        "Content-Type",
        "MCP-Protocol-Version",
        "X-Gitea-OTP",
        "Sudo",
      ]),
    );
    expect(headers.get("access-control-max-age")).toBe("7200");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("calls the API with a token and reads the headers of pages", async () => {
    const user = await make.user();
    await make.repo(user);
    const { status, headers } = await call("GET", "/user/repos", {
      as: user,
      headers: { Origin: APP },
    });
    expect(status).toBe(200);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(listOf(headers, "access-control-expose-headers")).toEqual(
      expect.arrayContaining(PAGING),
    );
    expect(headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("reads refusals, too", async () => {
    const headers = { Origin: APP, Authorization: "token none" };
    for (const path of ["/api/v1/user", "/api/v1/none", "/login/oauth/userinfo"]) {
      const answer = await visit("GET", path, { headers });
      expect(answer.status, path).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get("access-control-allow-origin"), path).toBe("*");
    }
  });

  // SECURITY: pages act by the cookie of their reader.
  it("calls no pages, no authorization and no git", async () => {
    for (const path of [
      "/",
      "/user/login",
      "/login/oauth/authorize",
      "/login/oauth/grant",
      "/a/b.git/info/refs",
    ]) {
      expect(
        (await preflight(path, "GET")).headers.get("access-control-allow-origin"),
        path,
      ).toBeNull();
      const { headers } = await visit("GET", path, { headers: { Origin: APP } });
      expect(headers.get("access-control-allow-origin"), path).toBeNull();
    }
  });

  it("calls only a service that lists its origin", async () => {
    const listed = doorsWith({ CORS_ALLOW_DOMAIN: `${APP},http://localhost:5173` });
    const none = doorsWith({ CORS_ALLOW_DOMAIN: "" });
    const originAt = async (by: typeof visit, Origin: string) => {
      const { headers } = await by("GET", "/api/v1/version", { headers: { Origin } });
      const asked = await preflight("/api/v1/version", "GET", by, Origin);
      expect(asked.headers.get("access-control-allow-origin")).toBe(
        headers.get("access-control-allow-origin"),
      );
      expect(headers.get("vary")).toContain("Origin");
      return headers.get("access-control-allow-origin");
    };
    expect(await originAt(listed, APP)).toBe(APP);
    expect(await originAt(listed, "http://localhost:5173")).toBe("http://localhost:5173");
    for (const origin of ["https://other.example", "https://app.example.other.example", "null"]) {
      expect(await originAt(listed, origin), origin).toBeNull();
    }
    expect(await originAt(none, APP)).toBeNull();
  });
});

describe("a request without an origin", () => {
  it("gets no word of origins, and 405 for OPTIONS as before", async () => {
    const { headers } = await call("GET", "/version");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect((await visit("OPTIONS", "/api/v1/version")).status).toBe(405);
  });
});
