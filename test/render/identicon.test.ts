import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { renderIdenticon } from "../../src/render/identicon.ts";

describe("renderIdenticon", () => {
  it("is a PNG of the size asked for", () => {
    for (const sizePx of [16, 64, 290]) {
      const png = Buffer.from(renderIdenticon("ada", sizePx));
      expect(png.toString("latin1", 0, 8)).toBe("\u0089PNG\r\n\u001A\n");
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([sizePx, sizePx]);
    }
  });

  it("gives a seed the same bytes every time, and another seed others", () => {
    expect(renderIdenticon("ada", 64)).toEqual(renderIdenticon("ada", 64));
    expect(renderIdenticon("ada", 64)).not.toEqual(renderIdenticon("grace", 64));
  });

  // A picture is how people recognise each other: an update of the library must not change it unseen.
  it("keeps the picture of a seed", () => {
    expect(pixelsOf(renderIdenticon("ada", 64))).toBe(
      "34a82970506fa73f11fefceac72847e86bd50742aa07d80489a984e17ca194b0",
    );
  });

  it("stays small", () => {
    expect(renderIdenticon("ada", 512).length).toBeLessThan(16 * 1024);
  });
});

/** The hash of what is in the image data, which no compressor changes. */
function pixelsOf(bytes: Uint8Array): string {
  const png = Buffer.from(bytes);
  const start = png.indexOf("IDAT");
  const data = png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4));
  return createHash("sha256").update(inflateSync(data)).digest("hex");
}
