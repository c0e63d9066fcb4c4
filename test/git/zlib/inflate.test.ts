import { constants, deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { GitError } from "../../../src/git/error.ts";
import { Inflater } from "../../../src/git/zlib/inflate.ts";
import { makeRandom, type Random } from "../support/random.ts";

/**
 * Inflates `stream`, fed in pieces of at most `inputMax` bytes, with room for `outputMax` bytes of
 * output at a time.
 */
function inflate(stream: Uint8Array, size: number, inputMax: number, outputMax: number) {
  const inflater = new Inflater();
  const output = new Uint8Array(size);
  let [at, end, to] = [0, 0, 0];
  for (;;) {
    const status = inflater.run(stream, at, end, output, to, Math.min(size, to + outputMax));
    at = inflater.inputOffset;
    to = inflater.outputOffset;
    if (status === "done") return { output: output.subarray(0, to), next: at };
    if (status === "output-full" && to === size) return { output, next: undefined };
    if (status === "need-input") {
      if (end === stream.length) return undefined;
      end = Math.min(stream.length, end + inputMax);
    }
  }
}

/** Returns content typical of git objects: text, runs, noise, and bytes of uneven frequency. */
function makeContent(random: Random): Uint8Array {
  const length = random.below(random.pick([4, 100, 3000, 70_000]));
  switch (random.below(4)) {
    case 0:
      return Buffer.from("the quick brown fox jumps over the lazy dog\n".repeat(length / 40 + 1));
    case 1:
      return new Uint8Array(length).fill(length);
    case 2:
      return random.bytes(length);
    default:
      return random.bytes(length).map((byte) => Math.floor((byte * byte) / 256));
  }
}

describe("Inflater", () => {
  it("finds content and end of every stream, for buffers of any size", () => {
    const random = makeRandom(1);
    for (let round = 0; round < 300; round++) {
      const content = makeContent(random);
      const stream = deflateSync(content, {
        level: random.below(10),
        strategy: random.pick([
          constants.Z_DEFAULT_STRATEGY,
          constants.Z_FIXED,
          constants.Z_HUFFMAN_ONLY,
        ]),
      });
      const followed = Buffer.concat([stream, random.bytes(30)]);
      const inputMax = random.pick([1e9, 1000, 7]);
      const result = inflate(followed, content.length, inputMax, random.pick([1e9, 500, 3]));
      expect(result?.next).toBe(stream.length);
      expect(Buffer.compare(result?.output ?? Buffer.alloc(0), content)).toBe(0);
    }
  });

  // The announced size bounds the output: a decompression bomb fills the buffer and no more.
  it("stops when the output is full", () => {
    const stream = deflateSync(new Uint8Array(1_000_000));
    expect(inflate(stream, 1000, 1e9, 1e9)).toEqual({
      output: new Uint8Array(1000),
      next: undefined,
    });
  });

  it("requests more input when a stream is truncated", () => {
    const stream = deflateSync(Buffer.from("some text, and some text again"));
    for (let length = 0; length < stream.length; length++) {
      expect(inflate(stream.subarray(0, length), 30, 1e9, 1e9)).toBeUndefined();
    }
  });

  it.each([
    ["a header of another method", [0x79, 0x9c, 0, 0]],
    ["a header that fails its check", [0x78, 0x9d, 0, 0]],
    ["a preset dictionary", [0x78, 0xbb, 0, 0]],
    ["a reserved block type", [0x78, 0x9c, 0x07, 0, 0, 0]],
    ["a stored length without its complement", [0x78, 0x9c, 0x01, 1, 0, 1, 0, 0, 0]],
    ["a distance before the start", [0x78, 0x9c, 0x03, 0x02]],
    ["too many code lengths", [0x78, 0x9c, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ])("refuses %s", (_, bytes) => {
    expect(() => inflate(Uint8Array.from([...bytes, ...Array(40).fill(0)]), 100, 1e9, 1e9)).toThrow(
      GitError,
    );
  });

  it("refuses a stream whose checksum does not match", () => {
    const stream = deflateSync(Buffer.from("content"));
    stream[stream.length - 1] = (stream.at(-1) ?? 0) ^ 1;
    expect(() => inflate(stream, 7, 1e9, 1e9)).toThrow(
      expect.objectContaining({ code: "corrupt" }),
    );
  });
});
