import { describe, expect, it } from "vitest";
import { cutRuns, READ_BYTES, RunReader } from "../../../src/git/catalog/entry-runs.ts";
import type { ByteSource } from "../../../src/git/store.ts";
import { makeRandom } from "../support/random.ts";

const KB = 1024;

describe("cutRuns", () => {
  it("joins entries over gaps that are short, or as long as what is read before them", () => {
    const cut = (...ranges: [number, number][]) =>
      cutRuns(ranges.map(([start, end]) => ({ start: start * KB, end: end * KB }))).map(
        ({ start, end, entries }) => [start / KB, end / KB, entries.length],
      );
    expect(cut()).toEqual([]);
    expect(cut([0, 1], [65, 66])).toEqual([[0, 66, 2]]);
    expect(cut([0, 1], [66, 67])).toEqual([
      [0, 1, 1],
      [66, 67, 1],
    ]);
    expect(cut([0, 300], [600, 601], [1100, 1101])).toEqual([[0, 1101, 3]]);
    expect(cut([0, 9000], [10_024, 10_025], [11_050, 11_051])).toEqual([
      [0, 10_025, 2],
      [11_050, 11_051, 1],
    ]);
  });
});

describe("RunReader", () => {
  const bytes = makeRandom(3).bytes(3 * READ_BYTES);

  /** A file that counts how it is read. */
  function makeSource(isStreamed: boolean) {
    const counts = { reads: 0, streams: 0, ended: 0 };
    const source: ByteSource = {
      sizeBytes: bytes.length,
      read: async (start, end) => {
        counts.reads++;
        return bytes.subarray(start, end);
      },
      ...(isStreamed && {
        async *stream(start, end, { pieceBytes }) {
          counts.streams++;
          try {
            for (let at = start; at < end; at += pieceBytes) {
              yield bytes.subarray(at, Math.min(end, at + pieceBytes));
            }
          } finally {
            counts.ended++;
          }
        },
      }),
    };
    return { source, counts };
  }

  const entries = [
    [10, 20],
    [20, 300 * KB],
    [400 * KB, 400 * KB + 1],
    [900 * KB, 2100 * KB],
    [3 * READ_BYTES - 5, 3 * READ_BYTES],
  ] as const;

  it.each([
    [true, 3 * READ_BYTES, { reads: 0, streams: 1, ended: 1 }],
    [false, 3 * READ_BYTES, { reads: 3, streams: 0, ended: 0 }],
    [true, READ_BYTES, { reads: 1, streams: 0, ended: 0 }],
  ])("reads entries of any length (streamed %s, %i bytes)", async (isStreamed, end, expected) => {
    const { source, counts } = makeSource(isStreamed);
    const reader = new RunReader(source, { start: 10, end });
    for (const [start, stop] of entries) {
      if (stop > end) continue;
      const found = reader.view(start, stop) ?? (await reader.read(start, stop));
      expect(Buffer.compare(found, bytes.subarray(start, stop))).toBe(0);
    }
    await reader.close();
    expect(counts).toEqual(expected);
  });

  it("ends a stream that is not read to its end, and opens none that is not read", async () => {
    const { source, counts } = makeSource(true);
    const [first, second] = [0, 1].map(
      () => new RunReader(source, { start: 0, end: 3 * READ_BYTES }),
    );
    await first?.read(0, 10);
    for (const reader of [first, second]) await reader?.close();
    expect(counts).toEqual({ reads: 0, streams: 1, ended: 1 });
  });
});
