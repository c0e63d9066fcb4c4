/** A range of bytes from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses the `Range` header of a request for a file of `sizeBytes`.
 *
 * @returns "whole" if the header is missing, invalid, or names several ranges, as RFC 9110, section
 * 14.2, allows; "none" if the range lies outside of the file.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | "whole" | "none" {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec((header ?? "").trim());
  if (!match) return "whole";
  const [, first = "", last = ""] = match;
  if (first === "") {
    if (last === "") return "whole";
    const start = Math.max(0, sizeBytes - Number(last));
    return start === sizeBytes ? "none" : { start, end: sizeBytes };
  }
  const start = Number(first);
  const end = last === "" ? sizeBytes : Math.min(sizeBytes, Number(last) + 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= sizeBytes ? "none" : { start, end };
}
