import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { RefLeases } from "../../../src/storage/ref-leases.ts";

const LEASE_MS = 1000;
const MAIN = "refs/heads/main";

describe("leases on refs", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are granted at once for a ref that nobody has, and for another one", async () => {
    const leases = new RefLeases(LEASE_MS);
    expect(await leases.acquire(MAIN, 0)).toMatchObject({ hasWaited: false });
    expect(await leases.acquire("refs/heads/other", 0)).toMatchObject({ hasWaited: false });
  });

  it("are granted in the order in which they are asked for", async () => {
    const leases = new RefLeases(LEASE_MS);
    const order: number[] = [];
    const first = await leases.acquire(MAIN, 0);
    const others = [1, 2, 3].map(async (at) => {
      const lease = await leases.acquire(MAIN, 100);
      order.push(at);
      expect(lease?.hasWaited).toBe(true);
      leases.release(MAIN, lease?.id ?? "");
    });
    leases.release(MAIN, first?.id ?? "");
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
    // Nobody has it any more.
    expect(await leases.acquire(MAIN, 0)).toMatchObject({ hasWaited: false });
  });

  it("are refused after the time to wait, and passed to those who still wait", async () => {
    const leases = new RefLeases(LEASE_MS);
    const first = await leases.acquire(MAIN, 0);
    const hasty = leases.acquire(MAIN, 10);
    const patient = leases.acquire(MAIN, 500);
    await vi.advanceTimersByTimeAsync(11);
    expect(await hasty).toBeUndefined();
    leases.release(MAIN, first?.id ?? "");
    expect(await patient).toMatchObject({ hasWaited: true });
  });

  it("end by themselves, and are not ended by who had one before", async () => {
    const leases = new RefLeases(LEASE_MS);
    const dead = await leases.acquire(MAIN, 0);
    const waiting = leases.acquire(MAIN, 2 * LEASE_MS);
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    const second = await waiting;
    expect(second).toMatchObject({ hasWaited: true });
    leases.release(MAIN, dead?.id ?? "");
    const third = leases.acquire(MAIN, 10);
    await vi.advanceTimersByTimeAsync(11);
    expect(await third).toBeUndefined();
  });
});
