import { describe, expect, it } from "vitest";

import {
  type Validators,
  evaluateConditions,
  versionHeaders,
} from "../../src/lib/conditional-request.ts";

const DATE = "Fri, 27 Nov 2026 08:15:30 GMT";
const BEFORE = "Fri, 27 Nov 2026 08:15:29 GMT";
const AFTER = "Fri, 27 Nov 2026 08:15:31 GMT";
// With a fraction, which no date of HTTP has.
const VERSION = { tag: "a", modifiedAt: Date.parse(DATE) + 400 };

/** The status of a request with these headers for content of ten bytes. */
const statusOf = (
  headers: Record<string, string>,
  version: Validators = VERSION,
  method = "GET",
): number => evaluateConditions({ method, headers: new Headers(headers) }, version, 10).status;

describe("evaluateConditions", () => {
  it.each([
    [{}, 200],
    [{ "If-None-Match": '"a"' }, 304],
    [{ "If-None-Match": 'W/"a"' }, 304],
    [{ "If-None-Match": '"b", "a"' }, 304],
    [{ "If-None-Match": "*" }, 304],
    [{ "If-None-Match": '"b"' }, 200],
    [{ "If-None-Match": "a" }, 200],
    [{ "If-Modified-Since": DATE }, 304],
    // Clients that send the time of their own download.
    [{ "If-Modified-Since": AFTER }, 304],
    [{ "If-Modified-Since": "Sat, 27 Nov 2027 08:15:30 GMT" }, 304],
    [{ "If-Modified-Since": BEFORE }, 200],
    [{ "If-Modified-Since": "Friday, 27-Nov-26 08:15:30 GMT" }, 304],
    [{ "If-Modified-Since": "Friday, 27-Nov-26 08:15:29 GMT" }, 200],
    [{ "If-Modified-Since": "Fri Nov 27 08:15:30 2026" }, 304],
    [{ "If-Modified-Since": "Fri Nov 27 08:15:29 2026" }, 200],
    // What is no date of HTTP is no condition.
    [{ "If-Modified-Since": "2027-11-27T08:15:30Z" }, 200],
    [{ "If-Modified-Since": "Sat, 27 Nov 2027 08:15:30 +0000" }, 200],
    [{ "If-Modified-Since": "Sat, 27 Nov 2027 99:15:30 GMT" }, 200],
    [{ "If-Modified-Since": String(Date.parse(AFTER)) }, 200],
    // A tag decides alone.
    [{ "If-None-Match": '"b"', "If-Modified-Since": AFTER }, 200],
    [{ "If-None-Match": '"a"', "If-Modified-Since": BEFORE }, 304],
    [{ "If-Match": '"a"' }, 200],
    [{ "If-Match": '"b", "a"' }, 200],
    [{ "If-Match": "*" }, 200],
    [{ "If-Match": 'W/"a"' }, 412],
    [{ "If-Match": '"b"' }, 412],
    [{ "If-Match": '"b"', "If-None-Match": '"a"' }, 412],
    [{ "If-Match": '"a"', "If-Unmodified-Since": BEFORE }, 200],
    [{ "If-Unmodified-Since": DATE }, 200],
    [{ "If-Unmodified-Since": BEFORE }, 412],
    [{ "If-Unmodified-Since": "yesterday" }, 200],
  ])("answers %j with %i", (headers, status) => {
    expect(statusOf(headers)).toBe(status);
  });

  it.each([
    [{}, 206],
    [{ "If-Range": '"a"' }, 206],
    [{ "If-Range": DATE }, 206],
    [{ "If-Range": "Fri Nov 27 08:15:30 2026" }, 206],
    [{ "If-Range": 'W/"a"' }, 200],
    [{ "If-Range": '"b"' }, 200],
    // Unlike elsewhere, a later date is no proof that the client has the same beginning.
    [{ "If-Range": AFTER }, 200],
    [{ "If-Range": BEFORE }, 200],
    [{ "If-Range": '"b"', Range: "bytes=20-" }, 200],
    [{ Range: "bytes=20-" }, 416],
    [{ "If-None-Match": '"a"', Range: "bytes=20-" }, 304],
    [{ "If-Match": '"b"', Range: "bytes=20-" }, 412],
  ])("answers a request for a part with %j with %i", (headers, status) => {
    expect(statusOf({ Range: "bytes=2-4", ...headers })).toBe(status);
  });

  it("ignores ranges of HEAD", () => {
    expect(statusOf({ Range: "bytes=2-4" }, VERSION, "HEAD")).toBe(200);
    expect(statusOf({ "If-Modified-Since": DATE }, VERSION, "HEAD")).toBe(304);
  });

  it("takes no date as a condition on content whose date is not known", () => {
    const version = { tag: "a" };
    expect(statusOf({ "If-Modified-Since": AFTER }, version)).toBe(200);
    expect(statusOf({ "If-Unmodified-Since": BEFORE }, version)).toBe(200);
    expect(statusOf({ Range: "bytes=2-4", "If-Range": DATE }, version)).toBe(200);
  });

  it("compares a date for equality where content with an earlier one may follow", () => {
    const version = { ...VERSION, isDateExact: true };
    expect(statusOf({ "If-Modified-Since": DATE }, version)).toBe(304);
    expect(statusOf({ "If-Modified-Since": AFTER }, version)).toBe(200);
    expect(statusOf({ "If-Unmodified-Since": DATE }, version)).toBe(200);
    expect(statusOf({ "If-Unmodified-Since": AFTER }, version)).toBe(412);
    expect(statusOf({ Range: "bytes=2-4", "If-Range": DATE }, version)).toBe(200);
    expect(statusOf({ Range: "bytes=2-4", "If-Range": '"a"' }, version)).toBe(206);
  });

  it("compares a weak tag only where equal meaning is enough", () => {
    const version = { tag: "a", isTagWeak: true };
    expect(statusOf({ "If-None-Match": '"a"' }, version)).toBe(304);
    expect(statusOf({ "If-Match": '"a"' }, version)).toBe(412);
    expect(statusOf({ Range: "bytes=2-4", "If-Range": '"a"' }, version)).toBe(200);
  });
});

describe("versionHeaders", () => {
  it("writes the tag with its strength, and the date in whole seconds", () => {
    expect(versionHeaders(VERSION)).toEqual({ ETag: '"a"', "Last-Modified": DATE });
    expect(versionHeaders({ tag: "a", isTagWeak: true })).toEqual({ ETag: 'W/"a"' });
  });
});
