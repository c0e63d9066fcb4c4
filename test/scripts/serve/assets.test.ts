import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { type Checkout, makeCheckout } from "../support/checkout.ts";
import { type Service, startService } from "../support/service.ts";

let checkout: Checkout;
let service: Service;

beforeAll(async () => {
  checkout = makeCheckout();
  service = await startService(checkout, { EDGEFORGE_DATA: join(checkout.path, ".data") });
});
afterAll(async () => {
  await service?.stop();
  checkout.remove();
});

const viewer = "node_modules/openapi-explorer/dist/browser";

/** URL path, content type, and the file of this repository that is sent. */
const assets: [string, string, string][] = [
  ["/openapi.json", "application/json", "dist/assets/openapi.json"],
  ["/swagger.v1.json", "application/json", "dist/assets/swagger.v1.json"],
  ["/api/swagger", "text/html; charset=utf-8", "scripts/assets/index.html"],
  ["/-/swagger/", "text/html; charset=utf-8", "scripts/assets/index.html"],
  ["/-/swagger/start.js", "text/javascript; charset=utf-8", "scripts/assets/start.js"],
  ["/-/swagger/viewer.css", "text/css; charset=utf-8", "scripts/assets/viewer.css"],
  [
    "/-/swagger/openapi-explorer.min.js",
    "text/javascript; charset=utf-8",
    `${viewer}/openapi-explorer.min.js`,
  ],
];

/** Headers of each response of the Worker. */
const commonHeaders = { "x-content-type-options": "nosniff", "x-frame-options": "SAMEORIGIN" };
const cached = "public, max-age=0, must-revalidate";
const uncached = "max-age=0, private, must-revalidate, no-transform";

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${service.url}${path}`, { redirect: "manual", ...init });
}

const headersOf = (answer: Response): Record<string, string> => Object.fromEntries(answer.headers);

// The public socket bypasses the Workers that Miniflare puts before one with assets; responses must
// not differ.
describe("the assets of a running service", () => {
  it.each(assets)(
    "%s is sent completely, with its type, its ETag and the common headers",
    async (path, type, file) => {
      const answer = await ask(path);

      expect(answer.status).toBe(200);
      expect(headersOf(answer)).toMatchObject({
        ...commonHeaders,
        "content-type": type,
        "cache-control": cached,
        "content-security-policy": expect.stringContaining(
          "default-src 'none'; script-src 'self';",
        ),
        etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
        "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect(Buffer.from(await answer.arrayBuffer()).equals(readFileSync(inProject(file)))).toBe(
        true,
      );
    },
  );

  it.each(assets)("%s has no body for a client with its ETag, nor for HEAD", async (path, type) => {
    const tag = (await ask(path)).headers.get("etag") ?? "";
    const known = await ask(path, { headers: { "if-none-match": tag } });
    const other = await ask(path, { headers: { "if-none-match": '"another"' } });
    const head = await ask(path, { method: "HEAD" });

    const expected = { ...commonHeaders, "content-type": type, "cache-control": cached, etag: tag };
    expect(known.status).toBe(304);
    expect(headersOf(known)).toMatchObject(expected);
    expect(await known.text()).toBe("");
    expect(other.status).toBe(200);
    expect(head.status).toBe(200);
    expect(headersOf(head)).toMatchObject(expected);
    expect(await head.text()).toBe("");
  });

  it("have one canonical URL each", async () => {
    for (const path of ["/-/swagger", "/-/swagger/index.html"]) {
      const answer = await ask(path);
      expect(answer.status, path).toBe(307);
      expect(headersOf(answer), path).toMatchObject({
        ...commonHeaders,
        location: "/-/swagger/",
        "cache-control": uncached,
      });
    }
  });

  it("are no other files than these, and only readable", async () => {
    const absent = ["/-/swagger/none.js", "/openapi", "/index.html"];
    for (const path of absent) expect((await ask(path)).status, path).toBe(404);
    // The Worker's own: the first page.
    expect((await ask("/")).status).toBe(200);
    for (const [path] of assets) {
      expect((await ask(path, { method: "POST" })).status, path).toBe(404);
    }
  });
});

describe("the public socket", () => {
  // Miniflare's router for assets redirects this path; the Worker answers 404.
  it("connects to the Worker itself", async () => {
    const { hostname, port } = new URL(service.url);
    const status = await new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path: "/cdn-cgi\\image" }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.once("error", reject).end();
    });

    expect(status).toBe(404);
  });
});
