import { describe, expect, it } from "vitest";

import { inForeground, Patience } from "../../src/lib/foreground.ts";
import { nextTask } from "../../src/lib/next-task.ts";
import { CallerLeft, StepBudget } from "../../src/lib/step-budget.ts";
import { beginSlice, SLICE_STEPS } from "../../src/lib/time-slice.ts";

describe("a budget of steps", () => {
  it("is exhausted once its steps are consumed", () => {
    const budget = new StepBudget(100);
    budget.consume(99);
    expect(budget).toMatchObject({ isExhausted: false, wasExceeded: false });
    budget.consume(1);
    expect(budget).toMatchObject({ isExhausted: true, wasExceeded: true });
  });

  it("gives half of what is left to a part, whose steps count in both", () => {
    let counted = 0;
    const budget = new StepBudget(100, { onSteps: (steps) => (counted += steps) });
    const part = budget.half();
    part.consume(50);
    expect(part.isExhausted).toBe(true);
    expect(budget).toMatchObject({ isExhausted: false, wasExceeded: true });
    const next = budget.half();
    next.consume(24);
    expect(next.isExhausted).toBe(false);
    next.consume(1);
    expect(next.isExhausted).toBe(true);
    expect(counted).toBe(75);
  });

  it("lets other work run, once many steps have passed", async () => {
    const budget = new StepBudget(1e9);
    let hasRun = false;
    setTimeout(() => (hasRun = true), 0);
    beginSlice();
    budget.consume(SLICE_STEPS - 1);
    expect(budget.pause()).toBeUndefined();
    expect(hasRun).toBe(false);
    budget.consume(1);
    await budget.pause();
    expect(hasRun).toBe(true);
    expect(budget.pause()).toBeUndefined();
  });

  it("lets requests come first at each pause of work that nobody waits for", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const request = inForeground(() => promise);
    const { untilIdle } = new Patience(10_000);
    const part = new StepBudget(1e9, { untilIdle }).half();
    part.consume(SLICE_STEPS);
    const order: string[] = [];
    const pausing = part.pause()?.then(() => order.push("work"));
    await nextTask();
    await nextTask();
    order.push("response");
    resolve();
    await Promise.all([request, pausing]);
    expect(order).toEqual(["response", "work"]);
  });

  it("ends the work at the first pause after the caller has left, in its parts too", async () => {
    const connection = new AbortController();
    const part = new StepBudget(1e9, { signal: connection.signal }).half();
    part.consume(3e6);
    await part.pause();
    connection.abort();
    part.consume(3e6);
    await expect(part.pause()).rejects.toThrow(CallerLeft);
  });
});
