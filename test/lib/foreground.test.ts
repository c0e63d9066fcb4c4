import { describe, expect, it } from "vitest";

import { inForeground, Patience } from "../../src/lib/foreground.ts";

const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe("a job", () => {
  it("waits for the requests that are under way, and goes on when they have a response", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const response = inForeground(() => promise);
    const order: string[] = [];
    const waiting = new Patience(10_000).untilIdle().then(() => order.push("job"));
    await nextTask();
    order.push("response");
    resolve("done");
    expect(await response).toBe("done");
    await waiting;
    expect(order).toEqual(["response", "job"]);
  });

  it("lets a request in that has arrived, and waits for it", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const order: string[] = [];
    const arrived = nextTask().then(() => {
      order.push("request");
      return inForeground(() => promise);
    });
    const waiting = new Patience(10_000).untilIdle().then(() => order.push("job"));
    await nextTask();
    order.push("response");
    resolve("done");
    expect(await arrived).toBe("done");
    await waiting;
    expect(order).toEqual(["request", "response", "job"]);
  });

  it("waits no longer than its time, all waits together, for a request that takes long", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const response = inForeground(() => promise);
    const patience = new Patience(3);
    await patience.untilIdle();
    let isOver = false;
    const second = patience.untilIdle().then(() => (isOver = true));
    await nextTask();
    expect(isOver).toBe(true);
    resolve();
    await Promise.all([response, second]);
  });

  it("does not wait where no request is under way, also after one that failed", async () => {
    const failing = inForeground(() => Promise.reject(new Error("broken")));
    await expect(failing).rejects.toThrow("broken");
    let isOver = false;
    void new Patience(10_000).untilIdle().then(() => (isOver = true));
    await nextTask();
    expect(isOver).toBe(true);
  });

  it("waits for a quiet moment: not between two requests that follow one another", async () => {
    const stop = new AbortController();
    const client = (async () => {
      while (!stop.signal.aborted) {
        await inForeground(nextTask);
        await nextTask();
      }
    })();
    let isOver = false;
    const waiting = new Patience(10_000).untilQuiet().then(() => (isOver = true));
    for (let look = 0; look < 5; look++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(isOver).toBe(false);
    stop.abort();
    await Promise.all([client, waiting]);
    expect(isOver).toBe(true);
  });

  it("waits no longer than its time for a quiet moment", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const response = inForeground(() => promise);
    const patience = new Patience(30);
    await patience.untilQuiet();
    let isOver = false;
    const second = patience.untilQuiet().then(() => (isOver = true));
    await Promise.resolve();
    await Promise.resolve();
    expect(isOver).toBe(true);
    resolve();
    await Promise.all([response, second]);
  });
});
