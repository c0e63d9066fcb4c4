import { describe, expect, it } from "vitest";

import { parseBase64 } from "../../src/lib/base64.ts";
import { readImageHeader } from "../../src/lib/image-header.ts";
import { PIXELS, pngOf } from "../support/images.ts";

const bytesOf = (text: string): Uint8Array => parseBase64(text) ?? new Uint8Array(0);

/** The bytes with some of them replaced. */
function patched(text: string, at: number, ...values: number[]): Uint8Array {
  const bytes = bytesOf(text);
  bytes.set(values, at);
  return bytes;
}

const VP8L = "UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAfQ//73v/+BiOh/AAA=";
/** A canvas of 258 by 770 pixels. */
const VP8X = (() => {
  const bytes = new Uint8Array(30);
  bytes.set(new TextEncoder().encode("RIFF"), 0);
  bytes[4] = 22;
  bytes.set(new TextEncoder().encode("WEBPVP8X"), 8);
  bytes.set([10], 16);
  bytes.set([1, 1, 0, 1, 3, 0], 24);
  return bytes;
})();

describe("readImageHeader", () => {
  it.each(Object.entries(PIXELS))("reads an image of type %s", (contentType, text) => {
    expect(readImageHeader(bytesOf(text))).toEqual({ contentType, widthPx: 1, heightPx: 1 });
  });

  it.each([
    ["a PNG", bytesOf(pngOf(70_000, 3)), 70_000, 3],
    ["a GIF", patched(PIXELS["image/gif"], 6, 0x10, 0x27), 10_000, 1],
    [
      "a GIF with a picture larger than its screen",
      patched(PIXELS["image/gif"], 32, 0x10, 0x27),
      10_000,
      1,
    ],
    ["a JPEG", patched(PIXELS["image/jpeg"], 76, 0x27, 0x10, 0x01, 0x00), 256, 10_000],
    ["a lossy WebP", patched(PIXELS["image/webp"], 26, 0xff, 0x3f), 16_383, 1],
    ["a lossless WebP", patched(VP8L, 21, 0xff, 0x3f), 16_384, 1],
    ["an extended WebP", VP8X, 258, 770],
  ])("reads the size of %s", (_name, bytes, widthPx, heightPx) => {
    expect(readImageHeader(bytes)).toMatchObject({ widthPx, heightPx });
  });

  it.each([
    ["nothing", new Uint8Array(0)],
    ["text", new TextEncoder().encode("hello")],
    ["SVG", new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ["a PNG of no width", bytesOf(pngOf(0, 1))],
    ["a PNG without its end", bytesOf(PIXELS["image/png"]).subarray(0, -1)],
    ["a PNG with something behind it", Uint8Array.of(...bytesOf(PIXELS["image/png"]), 0x3c)],
    ["a PNG whose first chunk is too long", patched(PIXELS["image/png"], 8, 0, 0, 0, 14)],
    [
      "a PNG with a chunk that never ends",
      patched(PIXELS["image/png"], 33, 0xff, 0xff, 0xff, 0xff),
    ],
    ["a GIF without its end", bytesOf(PIXELS["image/gif"]).subarray(0, -1)],
    ["a GIF with something behind it", Uint8Array.of(...bytesOf(PIXELS["image/gif"]), 0x3b)],
    ["a GIF without a picture", bytesOf("R0lGODlhAQABAAAAADs=")],
    ["a JPEG without a picture", bytesOf(PIXELS["image/jpeg"]).subarray(0, 70)],
    [
      "a JPEG with two sizes",
      Uint8Array.of(
        ...bytesOf(PIXELS["image/jpeg"]).subarray(0, 84),
        ...bytesOf(PIXELS["image/jpeg"]).subarray(71),
      ),
    ],
    ["a WebP of another length", bytesOf(PIXELS["image/webp"]).subarray(0, -3)],
    ["a sound", patched(PIXELS["image/webp"], 8, 0x57, 0x41, 0x56, 0x45)],
  ])("refuses %s", (_name, bytes) => {
    expect(readImageHeader(bytes)).toBeUndefined();
  });

  // A header is read before anything is decoded, whatever the bytes are.
  it("ends for every image that is cut or changed", () => {
    for (const text of [...Object.values(PIXELS), VP8L]) {
      const bytes = bytesOf(text);
      for (let at = 0; at < bytes.length; at++) {
        readImageHeader(bytes.subarray(0, at));
        for (const value of [0, 0x7f, 0xff]) readImageHeader(patched(text, at, value));
      }
    }
    expect(readImageHeader(VP8X)).toBeDefined();
  });
});
