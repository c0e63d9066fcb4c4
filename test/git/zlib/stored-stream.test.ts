import { inflateSync } from "node:zlib";

import { expect, it } from "vitest";

import { storedStream } from "../../../src/git/zlib/stored-stream.ts";

async function* piecesOf(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

it.each([
  [0, 1],
  [1, 1],
  [65_535, 65_535],
  [65_536, 65_536],
  [200_000, 70_001],
])("wraps %d bytes in a stream that zlib inflates", async (length, pieceBytes) => {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 7919) >>> 3);
  const stream: Uint8Array[] = [];
  for await (const piece of storedStream(piecesOf(bytes, pieceBytes))) stream.push(piece.slice());
  expect(inflateSync(Buffer.concat(stream)).equals(bytes)).toBe(true);
});
