import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";

describe("GET /settings/ui", () => {
  it("names the reactions that Gitea's clients offer", async () => {
    expect(await call("GET", "/settings/ui")).toMatchObject({
      status: 200,
      body: {
        default_theme: "auto",
        allowed_reactions: ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"],
        custom_emojis: [],
      },
    });
  });
});

describe("GET /settings/attachment", () => {
  it("has the limits of the configuration", async () => {
    expect(await call("GET", "/settings/attachment")).toMatchObject({
      status: 200,
      body: { enabled: true, max_size: 100, max_files: 100 },
    });
  });
});
