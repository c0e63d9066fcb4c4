import { createHash } from "node:crypto";
import * as zlib from "node:zlib";
import { expect, it } from "vitest";
import { adler32 } from "../../../src/git/hash/adler32.ts";
import { crc32 } from "../../../src/git/hash/crc32.ts";
import { Sha1 } from "../../../src/git/hash/sha1.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import { codec } from "../support/codec.ts";
import { makeRandom } from "../support/random.ts";

// Every length around the block and padding boundaries, cut at random offsets.
it("computes the host's SHA-1 for input cut at any offset", () => {
  const random = makeRandom(1);
  const sha1 = new Sha1();
  for (let length = 0; length < 300; length++) {
    const bytes = random.bytes(length);
    const cut = random.below(length + 1);
    const digest = sha1.update(bytes.subarray(0, cut)).update(bytes.subarray(cut)).digest();
    expect(Buffer.from(digest).toString("hex")).toBe(
      createHash("sha1").update(bytes).digest("hex"),
    );
  }
});

it("computes zlib's CRC-32 in pieces", () => {
  const random = makeRandom(2);
  for (let length = 0; length < 100; length++) {
    const bytes = random.bytes(length);
    const cut = random.below(length + 1);
    expect(crc32(bytes, cut, length, crc32(bytes, 0, cut))).toBe(zlib.crc32(bytes));
  }
});

// 0xff bytes make the sums as large as possible, so a modulus applied too late would overflow here.
it("computes the Adler-32 that ends a zlib stream", () => {
  const bytes = new Uint8Array(100_000).fill(0xff);
  const stream = zlib.deflateSync(bytes);
  expect(adler32(bytes, 0, bytes.length, 1)).toBe(stream.readInt32BE(stream.length - 4));
});

it("computes the same object id with the engine's hash and with the host's", () => {
  const content = makeRandom(3).bytes(10_000);
  const oid = hashObject("blob", content);
  expect(oid).toBe(createHash("sha1").update("blob 10000\0").update(content).digest("hex"));
  expect(hashObject("blob", content, codec)).toBe(oid);
});
