import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { renderIdenticon } from "../../src/render/identicon.ts";

describe("renderIdenticon", () => {
  it("returns a PNG of the requested size", () => {
    for (const sizePx of [16, 64, 290]) {
      const png = Buffer.from(renderIdenticon("ada", sizePx));
      expect(png.toString("latin1", 0, 8)).toBe("\u0089PNG\r\n\u001A\n");
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([sizePx, sizePx]);
    }
  });

  it("returns equal bytes for equal seeds, and different bytes for different seeds", () => {
    expect(renderIdenticon("ada", 64)).toEqual(renderIdenticon("ada", 64));
    expect(renderIdenticon("ada", 64)).not.toEqual(renderIdenticon("grace", 64));
  });

  // Users recognize accounts by their avatars, so an update of the library must not change them
  // unnoticed.
  it("does not change the pixels of a seed", () => {
    expect(pixelsOf(renderIdenticon("ada", 64))).toBe(
      "34a82970506fa73f11fefceac72847e86bd50742aa07d80489a984e17ca194b0",
    );
  });

  it("takes less than 16 KB", () => {
    expect(renderIdenticon("ada", 512).length).toBeLessThan(16 * 1024);
  });
});

/** The hash of the inflated image data, which does not depend on the compressor. */
function pixelsOf(bytes: Uint8Array): string {
  const png = Buffer.from(bytes);
  const start = png.indexOf("IDAT");
  const data = png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4));
  return createHash("sha256").update(inflateSync(data)).digest("hex");
}
