import { describe, expect, it } from "vitest";

import { describeWorker } from "../../../scripts/serve/worker.ts";

describe("the Worker on one machine", () => {
  // Only this setting allows loopback; a Worker on Cloudflare does not have it.
  it("may send requests to loopback, unless the environment overrides the setting", () => {
    expect(describeWorker({}).vars).toMatchObject({ ALLOWED_HOST_LIST: "external, loopback" });
    expect(describeWorker({ ALLOWED_HOST_LIST: "external" }).vars).toMatchObject({
      ALLOWED_HOST_LIST: "external",
    });
  });
});
