import { describe, expect, it } from "vitest";

import packageJson from "../../../package.json";
import { call } from "../../support/call.ts";
import { logged } from "../../support/usage.ts";

describe("GET /version", () => {
  it("returns the version under both keys, comparable by Gitea clients", async () => {
    const { answer, line } = await logged(() => call("GET", "/version"));

    expect(answer.status).toBe(200);
    expect(answer.body.Version).toBe(answer.body.version);
    expect(answer.body.version).toBe(`1.25.0+edgeforge-${packageJson.version}`);
    expect(line).toMatchObject({ d1Calls: 0, route: "/api/v1/version" });
  });

  // A wrong credential is an error everywhere: ignoring it would hide the mistake.
  it("refuses a wrong token even here", async () => {
    const answer = await call("GET", "/version", { token: "0".repeat(40) });

    expect(answer).toMatchObject({
      status: 401,
      body: { message: expect.any(String), url: "https://forge.example/api/swagger" },
    });
  });
});
