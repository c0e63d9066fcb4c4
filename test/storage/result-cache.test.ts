import { streamed } from "../support/streamed.ts";
import { describe, expect, it } from "vitest";

import type { ByteText } from "../../src/git/byte-text.ts";
import { inForeground } from "../../src/lib/foreground.ts";
import { StepBudget } from "../../src/lib/step-budget.ts";
import type { FileCache } from "../../src/storage/bucket.ts";
import { ResultCache, type ResultKey } from "../../src/storage/result-cache.ts";

/** A file cache for one test. */
function makeCache() {
  const files = new Map<string, Uint8Array>();
  const cache: FileCache = {
    get: (key) => Promise.resolve(files.get(key)),
    open: (key) => Promise.resolve(streamed(files.get(key))),
    put: (key, bytes) => void files.set(key, bytes),
  };
  return { files, cache };
}

/** A computation that counts its calls. */
function makeWork<T>(result: T) {
  const work = () => {
    work.count++;
    return Promise.resolve(result);
  };
  work.count = 0;
  return work;
}

const objectName = () => crypto.randomUUID();

describe("a cached result", () => {
  it("is computed once for equal keys of the same repository", async () => {
    const { cache } = makeCache();
    const name = objectName();
    const result = { a: [1, null, "\u00ff\ud800"] };
    const work = makeWork(result);
    const keyParts: ResultKey = ["history", "src/ü", ["a".repeat(40)], null];
    for (let round = 0; round < 3; round++) {
      expect(await new ResultCache(cache, name).getOrCompute(keyParts, work)).toEqual(result);
    }
    expect(work.count).toBe(1);
    for (const other of [
      ["history", "src/ü", ["b".repeat(40)], null],
      ["history", "src/ü", ["a".repeat(40)], 0],
      ["history", ["src/ü"], ["a".repeat(40)], null],
    ] satisfies ResultKey[]) {
      await new ResultCache(cache, name).getOrCompute(other, work);
    }
    expect(work.count).toBe(4);
  });

  // SECURITY: forks share packs but not results.
  it("is not visible to another repository", async () => {
    const { cache } = makeCache();
    const [first, second] = [makeWork("first"), makeWork("second")];
    expect(await new ResultCache(cache, objectName()).getOrCompute(["x"], first)).toBe("first");
    expect(await new ResultCache(cache, objectName()).getOrCompute(["x"], second)).toBe("second");
    expect(second.count).toBe(1);
  });

  it("is read from the file cache after the isolate has evicted it", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const work = makeWork("kept");
    await results.getOrCompute(["x"], work);
    const long = makeWork("x".repeat(1024 * 1024 - 2));
    for (let other = 0; other < 3; other++) await results.getOrCompute(["y", other], long);
    expect(await results.getOrCompute(["x"], work)).toBe("kept");
    expect(work.count).toBe(1);
    // A result that neither cache has is computed again.
    for (let other = 3; other < 6; other++) await results.getOrCompute(["y", other], long);
    files.clear();
    expect(await results.getOrCompute(["x"], work)).toBe("kept");
    expect(work.count).toBe(2);
  });

  it("is not stored if it is too long", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const work = makeWork("x".repeat(1024 * 1024));
    for (let round = 0; round < 2; round++)
      expect(await results.getOrCompute(["x"], work)).toHaveLength(1024 * 1024);
    expect([work.count, files.size]).toEqual([2, 0]);
  });

  it("is not stored if the computation fails", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const failing = () => Promise.reject(new Error("gone"));
    await expect(results.getOrCompute(["x"], failing)).rejects.toThrow("gone");
    expect(files.size).toBe(0);
    expect(await results.getOrCompute(["x"], makeWork("there"))).toBe("there");
  });
});

/** Makes texts of these pieces, and counts the texts that were begun and ended, and the pieces. */
function makePieces(...pieces: readonly (string | Error)[]) {
  const counts = { begun: 0, ended: 0, pieces: 0 };
  async function* compute(budget: StepBudget): AsyncGenerator<ByteText> {
    counts.begun++;
    try {
      for (const piece of pieces) {
        await budget.pause();
        if (piece instanceof Error) throw piece;
        counts.pieces++;
        yield piece as ByteText;
      }
    } finally {
      counts.ended++;
    }
  }
  return { counts, compute };
}

async function readText(pieces: AsyncGenerator<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += Buffer.from(piece).toString("latin1");
  return text;
}

const LARGE = "x".repeat(100_000);

describe("a result that is continued", () => {
  it("spends the steps that each request gives, until it is whole", async () => {
    const { cache } = makeCache();
    const incomplete: string[] = [];
    const results = new ResultCache(cache, objectName(), {
      openBudget: (stepsMax) => new StepBudget(stepsMax),
      onIncomplete: (kind) => void incomplete.push(kind),
    });
    const count = (stepsMax?: number) =>
      results.getOrContinue<number>(
        ["count"],
        async (budget, known = 0) => {
          let counted = known;
          while (counted < 100 && !budget.wasExceeded) {
            budget.consume(1);
            if (!budget.wasExceeded) counted++;
          }
          return counted;
        },
        stepsMax,
      );
    expect([await count(10), await count(30), incomplete]).toEqual([9, 38, ["count", "count"]]);
    expect([await count(), await count(1), incomplete.length]).toEqual([100, 100, 2]);
  });
});

describe("a text that is sent while it is computed", () => {
  it("arrives in pieces as they are made, and is remembered as a whole", async () => {
    const { cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const { counts, compute } = makePieces(LARGE, LARGE, "small\xff", "", "end");
    const stream = await results.streamText(["x"], compute);
    expect((await stream.next()).value).toHaveLength(LARGE.length);
    expect(counts.pieces).toBe(1);
    const rest = `${LARGE}small\xffend`;
    expect(await readText(stream)).toBe(rest);
    for (let round = 0; round < 2; round++) {
      const again = await results.streamText(["x"], compute);
      expect(await readText(again)).toBe(LARGE + rest);
    }
    expect(counts).toEqual({ begun: 1, ended: 1, pieces: 5 });
    // Who sends a piece may take its buffer: what is remembered is not touched by that.
    for await (const piece of await results.streamText(["x"], compute)) piece.fill(0);
    expect(await readText(await results.streamText(["x"], compute))).toBe(LARGE + rest);
  });

  it("shares what is remembered with a text that is computed before it is sent", async () => {
    const { cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    await readText(await results.streamText(["x"], makePieces("text").compute));
    const whole = await results.getOrComputeText(["x"], () => Promise.reject(new Error("again")));
    expect(Buffer.from(whole).toString()).toBe("text");
    const empty = await results.streamText(["empty"], makePieces().compute);
    expect(await readText(empty)).toBe("");
  });

  it("is refused before its first piece, and breaks off after that; neither is remembered", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const failing = makePieces(new Error("too large"));
    await expect(results.streamText(["x"], failing.compute)).rejects.toThrow("too large");
    const breaking = makePieces(LARGE, new Error("too large"));
    const stream = await results.streamText(["x"], breaking.compute);
    expect((await stream.next()).value).toHaveLength(LARGE.length);
    await expect(stream.next()).rejects.toThrow("too large");
    expect([failing.counts.ended, breaking.counts.ended, files.size]).toEqual([1, 1, 0]);
  });

  it("ends with its reader", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const { counts, compute } = makePieces(LARGE, LARGE, LARGE);
    const stream = await results.streamText(["x"], compute);
    await stream.next();
    await stream.return(undefined);
    expect(counts).toEqual({ begun: 1, ended: 1, pieces: 1 });
    expect(files.size).toBe(0);
  });

  it("is not remembered beyond 16 MB", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const { compute } = makePieces(...Array<string>(200).fill(LARGE));
    let sentBytes = 0;
    for await (const piece of await results.streamText(["x"], compute)) sentBytes += piece.length;
    expect([sentBytes, files.size]).toEqual([200 * LARGE.length, 0]);
  });

  it("reports each time that it is incomplete", async () => {
    const incomplete: string[] = [];
    const { cache } = makeCache();
    const results = new ResultCache(cache, objectName(), {
      openBudget: (stepsMax) => new StepBudget(stepsMax),
      onIncomplete: (kind) => void incomplete.push(kind),
    });
    async function* compute(budget: StepBudget): AsyncGenerator<ByteText> {
      budget.consume(11);
      yield "coarse" as ByteText;
    }
    for (let round = 1; round <= 2; round++) {
      expect(await readText(await results.streamText(["x"], compute, 10))).toBe("coarse");
      expect(incomplete).toHaveLength(round);
    }
    await readText(await results.streamText(["y"], compute, 20));
    expect(incomplete).toHaveLength(2);
  });
});

describe("a result that is continued", () => {
  /** Counts to a number, at some steps each; and the computations that it took. */
  function countTo(end: number, steps = 10) {
    const count = Object.assign(
      async (budget: StepBudget, known = 0) => {
        count.calls++;
        let at = known;
        while (at < end && !budget.isExhausted) {
          at++;
          budget.consume(steps);
          await budget.pause();
        }
        return at;
      },
      { calls: 0 },
    );
    return count;
  }

  /** A cache whose deferred work a test awaits. */
  function makeResults(cache: FileCache) {
    const deferred: Promise<unknown>[] = [];
    const results = new ResultCache(cache, objectName(), {
      openBudget: (stepsMax) => new StepBudget(stepsMax),
      onIncomplete: () => {},
      defer: (work) => void deferred.push(work),
    });
    return { results, deferred };
  }

  it("is whole after the response of a request that had few steps", async () => {
    const { cache } = makeCache();
    const { results, deferred } = makeResults(cache);
    const count = countTo(100);
    expect(await results.getOrContinue(["x"], count, 105)).toBe(11);
    expect(deferred).toHaveLength(1);
    await Promise.all(deferred);
    expect(await results.getOrContinue(["x"], count, 105)).toBe(100);
    expect([count.calls, deferred.length]).toEqual([2, 1]);
  });

  it("is not computed meanwhile for a request that has few steps, too", async () => {
    const { cache } = makeCache();
    const { results, deferred } = makeResults(cache);
    const count = countTo(100);
    // Continuing waits for requests that are under way.
    const { promise, resolve } = Promise.withResolvers<void>();
    const request = inForeground(() => promise);
    for (let round = 0; round < 2; round++) {
      expect(await results.getOrContinue(["x"], count, 105)).toBe(11);
    }
    expect(count.calls).toBe(1);
    resolve();
    await Promise.all([request, ...deferred]);
    expect(await results.getOrContinue(["x"], count, 105)).toBe(100);
    expect([count.calls, deferred.length]).toEqual([2, 1]);
  });

  it("is cached after each of a few parts, so that another isolate continues it", async () => {
    const { cache } = makeCache();
    const stored: string[] = [];
    const watching: FileCache = {
      ...cache,
      put: (_, bytes) => void stored.push(new TextDecoder().decode(bytes)),
    };
    const { results, deferred } = makeResults(watching);
    await results.getOrContinue(["x"], countTo(1000, 1_000_000), 1_000_000);
    await Promise.all(deferred);
    expect(stored).toEqual(["-1", "-41", "-81", "-121", "-161", "-201", "-241"]);
  });

  it("is left to the next request by one that had all steps of a result", async () => {
    const { cache } = makeCache();
    const { results, deferred } = makeResults(cache);
    await results.getOrContinue(["x"], countTo(1000, 1_000_000), 80_000_000);
    expect(deferred).toEqual([]);
  });
});
