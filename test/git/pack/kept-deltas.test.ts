import { expect, it } from "vitest";

import { KeptDeltas } from "../../../src/git/pack/kept-deltas.ts";

const bytesOf = (entry: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (entry * 31 + at) & 0xff);

it("returns each kept delta as it was, and none that was not kept", () => {
  const deltas = new KeptDeltas();
  const lengths = new Map(
    Array.from({ length: 3000 }, (_, at) => [at * 2, (at * 7919) % 1500] as const),
  );
  for (const [entry, length] of lengths) deltas.keep(entry, bytesOf(entry, length));
  const wrong = [...lengths].filter(([entry, length]) => {
    const delta = deltas.get(entry);
    return !delta || Buffer.compare(delta, bytesOf(entry, length)) !== 0 || deltas.has(entry + 1);
  });
  expect(wrong).toEqual([]);
  expect(deltas.get(1)).toBeUndefined();
  deltas.clear();
  expect(deltas.heldBytes).toBe(0);
  expect(deltas.get(0)).toBeUndefined();
});

it("copies: the caller's buffer may change", () => {
  const deltas = new KeptDeltas();
  const buffer = bytesOf(1, 10);
  deltas.keep(1, buffer);
  buffer.fill(0);
  expect(deltas.get(1)).toEqual(bytesOf(1, 10));
});

it("holds no more than 8 MB of deltas, whatever comes", () => {
  const deltas = new KeptDeltas();
  const long = new Uint8Array(200 * 1024);
  for (let entry = 0; entry < 200; entry++) deltas.keep(entry, long);
  deltas.keep(1000, new Uint8Array(1024 * 1024));
  expect(deltas.has(1000)).toBe(false);
  expect(deltas.has(0)).toBe(true);
  expect(deltas.has(199)).toBe(false);
  expect(deltas.heldBytes).toBeLessThan(8.1 * 2 ** 20);
});
