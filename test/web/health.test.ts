import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import worker from "../../src/worker.ts";
import { send, visit } from "../support/call.ts";

/** Asks a service whose database, or whose machine's disk, answers as given. */
function checkHealth(bindings: { DISK_SPACE?: () => Response; DB?: D1Database }) {
  const { DISK_SPACE: space, DB = env.DB } = bindings;
  const disk = space && { DISK_SPACE: { fetch: async () => space() } };
  const answer = (request: Request): Promise<Response> =>
    worker.fetch(
      request as Parameters<typeof worker.fetch>[0],
      { ...env, DB, ...disk },
      createExecutionContext(),
    );
  return send(answer, "GET", "/api/healthz", {});
}

describe("GET /api/healthz", () => {
  it("returns pass while the database responds", async () => {
    const answer = await visit("GET", "/api/healthz");

    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: "pass",
        description: "Edgeforge",
        checks: {
          "database:ping": [
            { status: "pass", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) },
          ],
        },
      },
    });
  });

  const full = {
    status: 503,
    body: { status: "fail", checks: { "disk:space": [{ status: "fail" }] } },
  };

  it.each([
    [
      "has space",
      () => new Response(null, { status: 204 }),
      { status: 200, body: { status: "pass" } },
    ],
    ["is full", () => new Response(null, { status: 507 }), full],
    [
      "can't be read",
      () => {
        throw new Error("no connection");
      },
      full,
    ],
  ])("passes only if the disk of a machine has space: it %s", async (_, answer, expected) => {
    expect(await checkHealth({ DISK_SPACE: answer })).toMatchObject({
      ...expected,
      body: { ...expected.body, checks: { "database:ping": [{ status: "pass" }] } },
    });
  });

  it("fails while the database does not respond", async () => {
    const session = {
      prepare: () => ({ bind: () => ({ raw: () => Promise.reject(new Error()) }) }),
    };
    const DB = { withSession: () => session } as unknown as D1Database;
    expect(await checkHealth({ DB })).toMatchObject({
      status: 503,
      body: { status: "fail", checks: { "database:ping": [{ status: "fail" }] } },
    });
  });
});

describe("a path without a route", () => {
  it.each(["/nothing", "/nothing/at/all", "/avatars", "/api", "/-/nothing"])(
    "returns 404 in plain text: %s",
    async (path) => {
      const answer = await visit("GET", path);

      expect(answer).toMatchObject({ status: 404, body: "404 page not found\n" });
      expect(answer.headers.get("Content-Type")).toMatch(/^text\/plain/);
    },
  );

  it("returns 404 with an empty body below the API", async () => {
    expect(await visit("GET", "/api/v1/nothing")).toMatchObject({ status: 404, body: "" });
  });
});
