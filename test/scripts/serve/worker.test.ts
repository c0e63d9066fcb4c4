import { describe, expect, it } from "vitest";

import { describeWorker } from "../../../scripts/serve/worker.ts";

describe("the Worker on one machine", () => {
  // Only this setting allows loopback; a Worker on Cloudflare does not have it.
  it("may send requests to loopback, unless the environment overrides the setting", async () => {
    expect((await describeWorker({})).vars).toMatchObject({
      ALLOWED_HOST_LIST: "external, loopback",
    });
    expect((await describeWorker({ ALLOWED_HOST_LIST: "external" })).vars).toMatchObject({
      ALLOWED_HOST_LIST: "external",
    });
  });

  // The local runtime handles one batch of a queue after the other: a slow mirror would keep all
  // others waiting.
  it("handles several mirrors and migrations at a time", async () => {
    expect(
      (await describeWorker({}, { queues: "simulator" })).options["queueConsumers"],
    ).toMatchObject({
      "edgeforge-remotes": { maxBatchSize: 10, maxRetries: 3 },
      "edgeforge-deliveries": { maxBatchSize: 10 },
    });
  });
});
