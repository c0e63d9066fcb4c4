import { type ByteRange, parseRange } from "./byte-range.ts";

/** What identifies the current content of a resource. */
export interface Validators {
  /** The entity tag, without quotes. */
  readonly tag: string;
  /** True if two contents with the same tag may differ in their bytes. */
  readonly isTagWeak?: boolean;
  /** When the content last changed, in milliseconds; undefined if that is not known. */
  readonly modifiedAt?: number | undefined;
  /**
   * True if the address may come to lead to content with an earlier date, as a branch does to a
   * commit that was made before its push: only the same date says that nothing has changed.
   */
  readonly isDateExact?: boolean;
}

/** The parts of a request that its conditions are in. */
export type ConditionalRequest = Pick<Request, "method" | "headers">;

/** How to respond to a request for content. Without a range, 200 is the whole content. */
export type ConditionalOutcome =
  | { readonly status: 200 | 304 | 412 | 416 }
  | { readonly status: 206; readonly range: ByteRange };

/** The headers that identify a version, for responses with any status. */
export const versionHeaders = ({
  tag,
  isTagWeak = false,
  modifiedAt,
}: Validators): Record<string, string> => ({
  ETag: `${isTagWeak ? "W/" : ""}"${tag}"`,
  ...(modifiedAt !== undefined && { "Last-Modified": new Date(modifiedAt).toUTCString() }),
});

/**
 * Evaluates the conditions of a `GET` or `HEAD`, for every door: a client that has the current
 * content gets 304, one whose copy must be current and is not 412, and a part is sent of nothing
 * else than the content whose beginning the client has.
 *
 * A tag decides where the client sends one. A date alone decides for clients that know no tags. It
 * may be that of their own download, so that any date at or after the change counts, unless
 * only the same one does.
 *
 * @param sizeBytes The size of the content, if it can be sent in parts.
 * @see RFC 9110, section 13.2.2.
 */
export function evaluateConditions(
  { method, headers }: ConditionalRequest,
  version: Validators,
  sizeBytes?: number,
): ConditionalOutcome {
  if (!isAsRequired(headers, version)) return { status: 412 };
  if (isUnchanged(headers, version)) return { status: 304 };
  if (method !== "GET" || sizeBytes === undefined || !mayContinue(headers, version)) {
    return { status: 200 };
  }
  const range = parseRange(headers.get("range") ?? undefined, sizeBytes);
  if (range === "whole") return { status: 200 };
  return range === "none" ? { status: 416 } : { status: 206, range };
}

function isAsRequired(headers: Headers, version: Validators): boolean {
  const { tag, isTagWeak } = version;
  const tags = headers.get("if-match");
  if (tags !== null) return listsTag(tags, tag, (each) => isTagWeak !== true && !isWeak(each));
  return isUnchangedSince(headers.get("if-unmodified-since"), version) ?? true;
}

function isUnchanged(headers: Headers, version: Validators): boolean {
  const tags = headers.get("if-none-match");
  if (tags !== null) return listsTag(tags, version.tag, () => true);
  return isUnchangedSince(headers.get("if-modified-since"), version) ?? false;
}

/** @returns Undefined if there is no date to compare, or none to compare it with. */
function isUnchangedSince(
  text: string | null,
  { modifiedAt, isDateExact = false }: Validators,
): boolean | undefined {
  const date = parseHttpDate(text);
  if (date === undefined || modifiedAt === undefined) return undefined;
  const second = toSecond(modifiedAt);
  return isDateExact ? second === date : second <= date;
}

/**
 * Whether `If-Range` allows a part: it has the same strong tag, or the same date of an address that
 * has one only once.
 */
function mayContinue(headers: Headers, version: Validators): boolean {
  const { tag, isTagWeak, modifiedAt, isDateExact = false } = version;
  const condition = headers.get("if-range")?.trim();
  if (condition === undefined) return true;
  if (condition === `"${tag}"`) return isTagWeak !== true;
  if (modifiedAt === undefined || isDateExact) return false;
  return parseHttpDate(condition) === toSecond(modifiedAt);
}

const isWeak = (tag: string): boolean => tag.startsWith("W/");

/** Whether a list of tags has one of the value `tag` that `counts`, or is `*`. */
function listsTag(list: string, tag: string, counts: (each: string) => boolean): boolean {
  return list
    .split(",")
    .map((each) => each.trim())
    .some((each) => each === "*" || (each.replace(/^W\//, "") === `"${tag}"` && counts(each)));
}

/** Dates of HTTP have no fractions of a second. */
const toSecond = (milliseconds: number): number => Math.floor(milliseconds / 1000) * 1000;

const TIME = String.raw`\d{2}:\d{2}:\d{2}`;
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
/** The three forms of a date: the one that is sent today, and two that recipients still read. */
const HTTP_DATE = new RegExp(
  `^(?:[A-Z][a-z]{2}, \\d{2} ${MONTH} \\d{4} ${TIME} GMT` +
    `|[A-Z][a-z]{5,8}, \\d{2}-${MONTH}-\\d{2} ${TIME} GMT` +
    `|[A-Z][a-z]{2} ${MONTH} [ \\d]\\d ${TIME} \\d{4})$`,
);

/** @returns The time in milliseconds, or undefined for what is no date of HTTP. */
function parseHttpDate(text: string | null): number | undefined {
  const trimmed = text?.trim() ?? "";
  if (!HTTP_DATE.test(trimmed)) return undefined;
  const time = Date.parse(trimmed.endsWith("GMT") ? trimmed : `${trimmed} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
