import { readByteText } from "../../git/byte-text.ts";

/** Bytes at the start of a file that tell what it is; git looks for a NUL in as many. */
const HEAD_BYTES = 8000;

/** Raster images by what stands where. They hold nothing that a browser would run. */
const IMAGES: readonly { offset: number; mark: string; type: string }[] = [
  { offset: 0, mark: "\x89PNG\r\n\x1a\n", type: "image/png" },
  { offset: 0, mark: "\xff\xd8\xff", type: "image/jpeg" },
  { offset: 0, mark: "GIF87a", type: "image/gif" },
  { offset: 0, mark: "GIF89a", type: "image/gif" },
  { offset: 8, mark: "WEBPVP8", type: "image/webp" },
  { offset: 4, mark: "ftypavif", type: "image/avif" },
  { offset: 0, mark: "\0\0\x01\0", type: "image/x-icon" },
];

/**
 * As what a file may be given to a browser: an image that it shows, or text, or bytes to keep.
 *
 * SECURITY: never as a page or script, whatever its name: it is somebody's file at our address. An
 * SVG may hold scripts, and is for a sandbox only.
 */
export function detectContentType(name: string, content: Uint8Array): string {
  const head = readByteText(content.subarray(0, HEAD_BYTES));
  const image = IMAGES.find(({ offset, mark }) => head.startsWith(mark, offset));
  if (image) return image.type;
  if (head.includes("\0")) return "application/octet-stream";
  const isSvg = name.toLowerCase().endsWith(".svg") && /<svg[\s>]/.test(head);
  return isSvg ? "image/svg+xml" : "text/plain; charset=utf-8";
}
