import type { ByteText } from "../byte-text.ts";
import type { FindingId } from "./finding.ts";

/** Maximum time, in seconds, that git's date code accepts. */
const TIME_SECONDS_MAX = 2n ** 63n - 1n;

/**
 * Checks the identity from `start` to the end of its line.
 *
 * @returns The id of the first fault, or undefined for a valid line.
 */
export function checkIdentity(text: ByteText, start: number): FindingId | undefined {
  const lineEnd = text.indexOf("\n", start);
  const line = text.slice(start, lineEnd < 0 ? text.length : lineEnd);
  if (line.startsWith("<")) return "missingNameBeforeEmail";
  const open = line.search(/[<>]/);
  if (open < 0) return "missingEmail";
  if (line.charAt(open) === ">") return "badName";
  if (line.charAt(open - 1) !== " ") return "missingSpaceBeforeEmail";
  const close = line.slice(open + 1).search(/[<>]/) + open + 1;
  if (line.charAt(close) !== ">" || close === open) return "badEmail";
  if (line.charAt(close + 1) !== " ") return "missingSpaceBeforeDate";

  const date = line.slice(close + 2).replace(/^[ \t]*/, "");
  const digits = /^\d*/.exec(date)?.[0] ?? "";
  if (digits === "") return "badDate";
  if (digits.startsWith("0") && date.charAt(1) !== " ") return "zeroPaddedDate";
  if (digits.length > 20 || BigInt(digits) > TIME_SECONDS_MAX) return "badDateOverflow";
  if (date.charAt(digits.length) !== " ") return "badDate";
  if (!/^[+-]\d{4}$/.test(date.slice(digits.length + 1))) return "badTimezone";
  return undefined;
}
