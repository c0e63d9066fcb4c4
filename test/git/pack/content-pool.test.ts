import { describe, expect, it } from "vitest";
import { capacityOf, ContentPool } from "../../../src/git/pack/content-pool.ts";
import { makeRandom } from "../support/random.ts";

/** Whether all bytes are the same: the first one is, and each is as the one before. */
const isFilled = (content: Uint8Array, byte: number): boolean =>
  content.length === 0 ||
  (content[0] === byte && Buffer.compare(content.subarray(1), content.subarray(0, -1)) === 0);

describe("ContentPool", () => {
  it("gives no memory to two contents at once", () => {
    const random = makeRandom(1);
    const pool = new ContentPool();
    const live: { content: Uint8Array; mark: number }[] = [];
    for (let round = 0; round < 5000; round++) {
      const [at, mark] = [random.below(60), round % 251];
      const old = live[at];
      expect(old === undefined || isFilled(old.content, old.mark)).toBe(true);
      if (old) pool.give(old.content);
      const length = random.below(random.pick([2, 300, 5000, 300_000]));
      const content = pool.take(length);
      expect(content).toHaveLength(length);
      live[at] = { content: content.fill(mark), mark };
      expect(pool.heldBytes).toBeLessThanOrEqual(2 * 2 ** 20);
    }
  });

  it("uses memory again", () => {
    const pool = new ContentPool();
    const content = pool.take(1000);
    pool.give(content);
    expect(pool.heldBytes).toBe(capacityOf(1000));
    expect(pool.take(1020).buffer).toBe(content.buffer);
    expect(pool.heldBytes).toBe(0);
  });

  // A buffer of Node, or a view of a block, has other views.
  it("does not take memory of others", () => {
    const pool = new ContentPool();
    pool.give(new Uint8Array(capacityOf(1000)));
    pool.give(Buffer.from("content"));
    expect(pool.heldBytes).toBe(0);
  });

  it("wastes at most a quarter", () => {
    for (let length = 256; length < 10_000; length += 7) {
      expect(capacityOf(length)).toBeGreaterThanOrEqual(length);
      expect(capacityOf(length)).toBeLessThanOrEqual(1.25 * length);
      expect(capacityOf(capacityOf(length))).toBe(capacityOf(length));
    }
  });
});
