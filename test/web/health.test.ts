import { describe, expect, it } from "vitest";

import { visit } from "../support/call.ts";

describe("GET /api/healthz", () => {
  it("passes while the database answers", async () => {
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

describe("an address where nothing is", () => {
  it.each(["/nothing", "/nothing/at/all", "/avatars", "/api", "/-/nothing"])(
    "is told so in plain text: %s",
    async (path) => {
      const answer = await visit("GET", path);

      expect(answer).toMatchObject({ status: 404, body: "404 page not found\n" });
      expect(answer.headers.get("Content-Type")).toMatch(/^text\/plain/);
    },
  );

  it("is told nothing at all below the API", async () => {
    expect(await visit("GET", "/api/v1/nothing")).toMatchObject({ status: 404, body: "" });
  });
});
