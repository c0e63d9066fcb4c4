import { readByteText } from "../../../git/byte-text.ts";

/** Bytes at the start of a file used to detect its type; git checks the same number for a NUL. */
const HEAD_BYTES = 8000;

/**
 * Magic bytes of formats that browsers show, none of which can run a script in a page.
 *
 * @see https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern
 */
const FORMATS: readonly { offset: number; mark: string; type: string }[] = [
  { offset: 0, mark: "\x89PNG\r\n\x1a\n", type: "image/png" },
  { offset: 0, mark: "\xff\xd8\xff", type: "image/jpeg" },
  { offset: 0, mark: "GIF87a", type: "image/gif" },
  { offset: 0, mark: "GIF89a", type: "image/gif" },
  { offset: 8, mark: "WEBPVP8", type: "image/webp" },
  { offset: 4, mark: "ftypavif", type: "image/avif" },
  { offset: 0, mark: "\0\0\x01\0", type: "image/x-icon" },
  { offset: 0, mark: "%PDF-", type: "application/pdf" },
];

/** Those of sounds and videos, which are words: they count in files that are no text. */
const MEDIA: typeof FORMATS = [
  { offset: 4, mark: "ftyp", type: "video/mp4" },
  { offset: 0, mark: "\x1a\x45\xdf\xa3", type: "video/webm" },
  { offset: 0, mark: "OggS\0", type: "application/ogg" },
  { offset: 8, mark: "WAVE", type: "audio/wave" },
  { offset: 0, mark: "fLaC", type: "audio/flac" },
  { offset: 0, mark: "ID3", type: "audio/mpeg" },
];

/**
 * Detects the media type to serve a file with: an image, a video, a sound, a PDF, plain text, or
 * `application/octet-stream`.
 *
 * SECURITY: never HTML or a script type, whatever the file name, since user content served from our
 * origin would run there. An SVG can contain scripts (see `mayRun`) and must be served sandboxed.
 */
export function detectContentType(name: string, content: Uint8Array): string {
  const head = readByteText(content.subarray(0, HEAD_BYTES));
  const find = (formats: typeof FORMATS): string | undefined =>
    formats.find(({ offset, mark }) => head.startsWith(mark, offset))?.type;
  const type = find(FORMATS);
  if (type !== undefined) return type;
  if (head.includes("\0")) return find(MEDIA) ?? "application/octet-stream";
  if (mayRun(name) && /<svg[\s>]/.test(head)) return "image/svg+xml";
  return isUtf8(content.subarray(0, HEAD_BYTES)) ? "text/plain; charset=utf-8" : "text/plain";
}

/** Of a text in another encoding none is stated: a browser knows better than we do. */
function isUtf8(head: Uint8Array): boolean {
  try {
    // As a stream, since the end may cut a character.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * True for the name of a file whose detected type a browser would run as a document: an SVG. It
 * must be served as an attachment, which browsers ignore where the file is an image of another
 * page.
 */
export const mayRun = (name: string): boolean => name.toLowerCase().endsWith(".svg");

/** True for the name of a file whose viewer, which is the browser's own, runs in no sandbox. */
export const isPdf = (name: string): boolean => name.toLowerCase().endsWith(".pdf");
