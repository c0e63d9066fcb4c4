import { afterEach, describe, expect, it, vi } from "vitest";

import { HashQueue } from "../../src/auth/hash-queue.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const count = (total: number) => Array.from({ length: total }, (_, at) => at);

describe("HashQueue", () => {
  it("runs hashes in the order in which they came", async () => {
    const queue = new HashQueue();
    const order: number[] = [];
    await Promise.all(count(5).map((at) => queue.run(String(at), () => order.push(at))));
    expect(order).toEqual(count(5));
  });

  it("gives concurrent calls with one key the result of one hash, and hashes anew afterwards", async () => {
    const queue = new HashQueue();
    const hash = vi.fn<() => object>(() => ({}));
    const [first, ...others] = await Promise.all(count(20).map(() => queue.run("same", hash)));
    expect(hash).toHaveBeenCalledTimes(1);
    for (const other of others) expect(other).toBe(first);
    expect(await queue.run("same", hash)).not.toBe(first);
  });

  it("refuses what the queue does not hold, and takes the next when it is empty again", async () => {
    const queue = new HashQueue();
    const settled = await Promise.allSettled(count(9).map((at) => queue.run(String(at), () => at)));
    expect(settled.slice(0, 8).map(({ status }) => status)).not.toContain("rejected");
    expect(settled[8]).toMatchObject({
      reason: { kind: "too_many", retryAfterSeconds: expect.any(Number) },
    });
    expect(await queue.run("next", () => "hashed")).toBe("hashed");
  });

  it("goes on after a hash that fails, and lets those with the same key hash themselves", async () => {
    const queue = new HashQueue();
    let calls = 0;
    const hash = (): string => {
      if (++calls === 1) throw new Error("no memory");
      return "hashed";
    };
    const settled = await Promise.allSettled([queue.run("same", hash), queue.run("same", hash)]);
    expect(settled).toMatchObject([{ status: "rejected" }, { value: "hashed" }]);
  });

  // The platform drops a request without running it any further, `finally` blocks included.
  it("passes a turn on that its request never takes, once it has expired", async () => {
    const queue = new HashQueue();
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.spyOn(scheduler, "wait").mockReturnValueOnce(new Promise(() => {}));
    void queue.run("lost", () => expect.unreachable());
    const waiting = queue.run("waiting", () => "hashed");
    vi.setSystemTime(Date.now() + 10_001);
    expect(await waiting).toBe("hashed");
  });
});
