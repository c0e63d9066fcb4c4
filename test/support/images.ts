import { Buffer } from "node:buffer";

import { crc32 } from "../../src/git/hash/crc32.ts";

/** An image of one pixel in each format that may be an avatar, in base64. */
export const PIXELS = {
  "image/png":
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "image/gif": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  "image/jpeg":
    "/9j/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k=",
  "image/webp": "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=",
} as const;

/**
 * A PNG that declares a size, whatever its pixels are, with a text of its own among them; in
 * base64.
 */
export function pngOf(widthPx: number, heightPx: number, text = ""): string {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(widthPx, 0);
  size.writeUInt32BE(heightPx, 4);
  size[8] = 8;
  const pixels = chunk("IDAT", Buffer.concat([PIXEL, Buffer.from(text)]));
  return pngWith(chunk("IHDR", size), pixels);
}

/** A PNG of the given chunks and the last one; in base64. */
export function pngWith(...chunks: Buffer[]): string {
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([signature, ...chunks, chunk("IEND", Buffer.alloc(0))]).toString("base64");
}

/** A gray pixel, as zlib writes it. */
const PIXEL = Buffer.from("eJxjYAAAAAIAAQ==", "base64");

export function chunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}
