import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

describe("the log of the queues", () => {
  // Background work has a cost too, and appears in no request's log line.
  it("has a line for each batch of messages, with its D1 usage", async () => {
    const spy = vi.spyOn(console, "log").mockImplementation(() => {});
    const read = () =>
      spy.mock.calls
        .map(([line]) => String(line))
        .filter((line) => line.startsWith('{"event":"jobs"'))
        .map((line) => JSON.parse(line) as object);
    try {
      await env.DELIVERY_JOBS.send({ hookIds: [987_654_321] });

      await expect.poll(read, { timeout: 10_000 }).toContainEqual({
        event: "jobs",
        queue: "edgeforge-deliveries",
        messages: expect.any(Number),
        durationMs: expect.any(Number),
        d1Calls: expect.any(Number),
        d1RowsRead: expect.any(Number),
        d1RowsWritten: expect.any(Number),
      });
    } finally {
      spy.mockRestore();
    }
  });
});
