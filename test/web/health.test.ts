import { describe, expect, it } from "vitest";

import { visit } from "../support/call.ts";

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
