import { describe, expect, it } from "vitest";

import { visit } from "../support/call.ts";

const PAGE = "/api/swagger";

describe("the interface description", () => {
  it.each([
    ["/openapi.json", { openapi: "3.1.0", servers: [{ url: "/api/v1" }] }],
    // Gitea's path, from which older generators expect Swagger 2.0.
    ["/swagger.v1.json", { swagger: "2.0", basePath: "/api/v1" }],
  ])("has the version of its format and of the contract: %s", async (path, format) => {
    const { status, headers, body } = await visit("GET", path);

    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toMatch(/^application\/json/);
    expect(body).toMatchObject({
      ...format,
      info: { version: "1.1.1" },
      paths: { "/user": { get: { operationId: "userGetCurrent" } } },
    });
  });
});

describe("a file of the description", () => {
  it.each(["/openapi.json", "/swagger.v1.json", PAGE])(
    "is not sent to a client that has it, also among others: %s",
    async (path) => {
      const tag = (await visit("GET", path)).headers.get("ETag") ?? "";
      expect(tag).toMatch(/^(?:W\/)?"[^"]+"$/);
      const ask = (tags: string) => visit("GET", path, { headers: { "If-None-Match": tags } });
      for (const tags of [tag, `"other", ${tag}`, `${tag},"other"`, `W/"x", ${tag}`, "*"]) {
        const { status, headers, body } = await ask(tags);
        expect([tags, status, headers.get("ETag"), body]).toEqual([tags, 304, tag, ""]);
      }
      const changed = await ask('"other", "another"');
      expect([changed.status, changed.body === ""]).toEqual([200, false]);
    },
  );
});

describe(`GET ${PAGE}`, () => {
  it("returns an HTML page", async () => {
    const page = await visit("GET", PAGE);

    expect(page.status).toBe(200);
    expect(page.headers.get("Content-Type")).toMatch(/^text\/html/);
    expect(page.body).toMatch(/^<!doctype html>/i);
  });

  it("loads all its files from this service", async () => {
    const { body } = await visit("GET", PAGE);
    const loaded = [...String(body).matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, url]) => url);

    expect(loaded.filter((url) => url?.endsWith(".js"))).not.toEqual([]);
    expect(loaded.filter((url) => url?.endsWith(".css"))).not.toEqual([]);
    for (const url of loaded) {
      expect(url).toMatch(/^\/[^/]/);
      const { status, headers, body: file } = await visit("GET", String(url));
      expect([url, status]).toEqual([url, 200]);
      // Static files get the common response headers too.
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("X-Request-Id")).not.toBeNull();
      expect(file).not.toBe("");
    }
  });

  // SECURITY: no other host may learn who reads the page or alter its content.
  it("references no other host in the page, its start script and its policy", async () => {
    const page = await visit("GET", PAGE);
    const start = await visit("GET", "/-/swagger/start.js");
    const policy = page.headers.get("Content-Security-Policy") ?? "";

    for (const text of [page.body, start.body, policy]) {
      expect(text).not.toMatch(/https?:|\/\/[\w-]+\./);
    }
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain("unsafe-eval");
    expect(page.body).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=/);
  });

  it("sends the policy with every file of the viewer", async () => {
    const page = await visit("GET", PAGE);

    for (const path of ["/-/swagger/", "/-/swagger/start.js", "/-/swagger/viewer.css"]) {
      const file = await visit("GET", path);
      expect(file.headers.get("Content-Security-Policy")).toBe(
        page.headers.get("Content-Security-Policy"),
      );
    }
  });

  it("is the redirect target of /api/v1/swagger, which Gitea clients request", async () => {
    const answer = await visit("GET", "/api/v1/swagger");

    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe(PAGE);
  });

  it("serves no files except the viewer's", async () => {
    for (const path of ["/-/swagger/nothing.js", "/-/swagger/../../wrangler.toml"]) {
      expect((await visit("GET", path)).status).toBe(404);
    }
  });
});
