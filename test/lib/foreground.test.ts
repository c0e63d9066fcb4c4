import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { inForeground, Patience } from "../../src/lib/foreground.ts";

// Time passes by hand: on a busy machine, timers that are apart may come due together.
beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** @param ms In milliseconds. */
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("a job", () => {
  it("waits for the requests that are under way, and goes on when they have a response", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const response = inForeground(() => promise);
    const order: string[] = [];
    const waiting = new Patience(10_000).untilIdle().then(() => order.push("job"));
    await pass(100);
    order.push("response");
    resolve("done");
    await pass(1);
    expect(await response).toBe("done");
    await waiting;
    expect(order).toEqual(["response", "job"]);
  });

  it("lets a request in that has arrived, and waits for it", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const order: string[] = [];
    const arrived = sleep(0).then(() => {
      order.push("request");
      return inForeground(() => promise);
    });
    const waiting = new Patience(10_000).untilIdle().then(() => order.push("job"));
    await pass(100);
    order.push("response");
    resolve("done");
    await pass(1);
    expect(await arrived).toBe("done");
    await waiting;
    expect(order).toEqual(["request", "response", "job"]);
  });

  it("waits no longer than its time, all waits together, for a request that takes long", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const response = inForeground(() => promise);
    const patience = new Patience(30);
    let waits = 0;
    const waiting = (async () => {
      for (; waits < 2; waits++) await patience.untilIdle();
    })();
    await pass(29);
    expect(waits).toBe(0);
    await pass(3);
    expect(waits).toBe(2);
    resolve();
    await Promise.all([response, waiting]);
  });

  it("does not wait where no request is under way, also after one that failed", async () => {
    const failing = inForeground(() => Promise.reject(new Error("broken")));
    await expect(failing).rejects.toThrow("broken");
    let isOver = false;
    const waiting = new Patience(10_000).untilIdle().then(() => (isOver = true));
    await pass(0);
    expect(isOver).toBe(true);
    await waiting;
  });

  it("waits for a quiet moment: not between two requests that follow one another", async () => {
    const stop = new AbortController();
    const client = (async () => {
      while (!stop.signal.aborted) {
        await inForeground(() => sleep(1));
        await sleep(1);
      }
    })();
    let isOver = false;
    const waiting = new Patience(10_000).untilQuiet().then(() => (isOver = true));
    await pass(1_000);
    expect(isOver).toBe(false);
    stop.abort();
    await pass(30);
    expect(isOver).toBe(true);
    await Promise.all([client, waiting]);
  });

  it("waits no longer than its time for a quiet moment", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const response = inForeground(() => promise);
    const patience = new Patience(30);
    let waits = 0;
    const waiting = (async () => {
      for (; waits < 2; waits++) await patience.untilQuiet();
    })();
    await pass(29);
    expect(waits).toBe(0);
    await pass(1);
    expect(waits).toBe(2);
    resolve();
    await Promise.all([response, waiting]);
  });
});
