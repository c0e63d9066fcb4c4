import type { ByteText } from "../byte-text.ts";

/** A person and a time: the value of an `author`, `committer` or `tagger` line. */
export interface Identity {
  readonly name: ByteText;
  readonly email: ByteText;
  /** Unix time in seconds, from 0 to `TIME_SECONDS_MAX`. */
  readonly timeSeconds: number;
  /** Offset from UTC, such as `+0200`: a sign and four digits. Git distinguishes `-0000`. */
  readonly zone: string;
}

/** The latest time that git knows, in seconds: later ones count as this. */
const TIME_SECONDS_MAX = 2 ** 64;

/**
 * Parses an identity as leniently as `git log` does: unreadable parts are empty or 0, because old
 * histories hold malformed lines and must still be displayed. `checkIdentity` is the strict check.
 *
 * A negative time is 0. A zone of fewer digits is read as git reads it (`-700` is `-0700`); of more
 * digits, which some writers used for seconds, the first four count.
 */
export function parseIdentity(line: ByteText): Identity {
  const open = line.indexOf("<");
  const close = line.indexOf(">", open + 1);
  if (open < 0 || close < 0) {
    return { name: line.trim() as ByteText, email: "" as ByteText, timeSeconds: 0, zone: "+0000" };
  }
  // Some writers left a stray bracket in the address, so the date starts after the last bracket.
  const date = /^\s*(\d+)(?:\s+([+-])(\d{1,4}))?/.exec(line.slice(line.lastIndexOf(">") + 1));
  const [, seconds = "0", sign = "+", digits = "0"] = date ?? [];
  return {
    name: line.slice(0, open).replace(/[ \t]+$/, "") as ByteText,
    email: line.slice(open + 1, close) as ByteText,
    timeSeconds: Math.min(Number(seconds), TIME_SECONDS_MAX),
    zone: sign + digits.padStart(4, "0"),
  };
}

export function formatIdentity(identity: Identity): ByteText {
  const { name, email, timeSeconds, zone } = identity;
  return `${name} <${email}> ${timeSeconds} ${zone}` as ByteText;
}

const isCrud = (char: string): boolean => char <= " " || ".,:;<>\"\\'".includes(char);

/**
 * Cleans a name or address as git does: removes the characters that delimit an identity, and dots,
 * commas and the like at both ends.
 *
 * @see git-commit-tree(1), "Commit Information".
 */
export function cleanIdentityText(text: ByteText): ByteText {
  let start = 0;
  let end = text.length;
  while (start < end && isCrud(text.charAt(start))) start++;
  while (end > start && isCrud(text.charAt(end - 1))) end--;
  return text.slice(start, end).replaceAll(/[\n<>]/g, "") as ByteText;
}

/** Returns the offset of a zone such as `-0330`, in minutes east of UTC. */
export function zoneMinutes(zone: string): number {
  const sign = zone.startsWith("-") ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5))) || 0;
}
