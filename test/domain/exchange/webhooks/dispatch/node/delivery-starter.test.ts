import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { DeliveryStarter } from "../../../../../../src/domain/exchange/webhooks/dispatch/delivery-starter.ts";
import { EventQueues, type DeliveryJob } from "../../../../../../src/storage/event-queues.ts";

/** A starter, and the hooks of each message that it sends. */
function openStarter() {
  const sent: (readonly number[])[] = [];
  const queue = {
    sendBatch: async (messages: { body: DeliveryJob }[]) =>
      void sent.push(...messages.map(({ body }) => body.hookIds)),
  } as unknown as Env["DELIVERY_JOBS"];
  const events = { send: () => Promise.resolve() } as unknown as Env["EVENT_JOBS"];
  return { starter: new DeliveryStarter(new EventQueues(events, queue)), sent };
}

describe("the deliveries of events that are dispatched one after the other", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("start at once for the first event, and together for those within a tenth of a second", async () => {
    const { starter, sent } = openStarter();
    starter.start([1, 2]);
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual([[1, 2]]);
    starter.start([2, 3]);
    starter.start([3, 4]);
    await vi.advanceTimersByTimeAsync(99);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toEqual([
      [1, 2],
      [2, 3, 4],
    ]);
    await vi.advanceTimersByTimeAsync(100);
    starter.start([5]);
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.at(-1)).toEqual([5]);
  });

  it("all start at the end, and nothing is sent afterwards", async () => {
    const { starter, sent } = openStarter();
    starter.start([1]);
    starter.start([2]);
    await starter.finish();
    expect(sent).toEqual([[1], [2]]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toHaveLength(2);
  });

  it("share messages of ten hooks", async () => {
    const { starter, sent } = openStarter();
    starter.start(Array.from({ length: 25 }, (_, at) => at));
    await starter.finish();
    expect(sent.map((hookIds) => hookIds.length)).toEqual([10, 10, 5]);
  });
});
