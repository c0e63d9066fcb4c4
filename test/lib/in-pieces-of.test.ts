import { describe, expect, it } from "vitest";

import { inPiecesOf } from "../../src/lib/in-pieces-of.ts";

/** The pieces that a source of pieces of such sizes is made into. */
async function cut(pieceBytes: number, sizes: readonly number[]): Promise<number[][]> {
  let next = 0;
  async function* source() {
    for (const size of sizes) yield Uint8Array.from({ length: size }, () => next++);
  }
  const pieces: Uint8Array[] = [];
  // Pieces stay as they are while later ones are made.
  for await (const piece of inPiecesOf(pieceBytes, source())) pieces.push(piece);
  return pieces.map((piece) => Array.from(piece));
}

describe("inPiecesOf", () => {
  it.each([
    [[], []],
    [[0, 0], []],
    [[1], [[0]]],
    [[3], [[0, 1, 2]]],
    [
      [1, 1, 2],
      [[0, 1, 2], [3]],
    ],
    [
      [7, 0, 1],
      [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7],
      ],
    ],
  ])("cuts pieces of %j into pieces of three bytes", async (sizes, expected) => {
    expect(await cut(3, sizes)).toEqual(expected);
  });

  it("passes an error of its source on", async () => {
    async function* failing() {
      yield Uint8Array.of(1);
      throw new Error("it breaks off");
    }
    await expect(inPiecesOf(3, failing()).next()).rejects.toThrow("it breaks off");
  });
});
