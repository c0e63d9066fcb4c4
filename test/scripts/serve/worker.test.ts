import { describe, expect, it } from "vitest";

import { describeWorker } from "../../../scripts/serve/worker.ts";

describe("the Worker on one machine", () => {
  // Loopback is reached by this setting alone, which a Worker on Cloudflare does not have.
  it("may ask what runs beside it, unless the environment says otherwise", () => {
    expect(describeWorker({}).vars).toMatchObject({ ALLOWED_HOST_LIST: "external, loopback" });
    expect(describeWorker({ ALLOWED_HOST_LIST: "external" }).vars).toMatchObject({
      ALLOWED_HOST_LIST: "external",
    });
  });
});
