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
  // A client that reads this sends no attachment, instead of one that is refused.
  it("says that there are no attachments yet", async () => {
    expect(await call("GET", "/settings/attachment")).toMatchObject({
      status: 200,
      body: { enabled: false, allowed_types: "", max_size: 0, max_files: 0 },
    });
  });
});
