import { describe, expect, it } from "vitest";

import { isWebAddress } from "../../src/lib/web-address.ts";

describe("a web address", () => {
  it.each([
    "https://example.com",
    "HTTP://example.com:8080/a?b=c#d",
    "http://localhost/",
    "http://[::1]/",
    "http://example.com/a b",
    String.raw`http:\\example.com`,
  ])("may be %j", (text) => {
    expect(isWebAddress(text)).toBe(true);
  });

  it.each([
    "",
    "example.com",
    "//example.com",
    "/page",
    "ftp://example.com",
    "mailto:a@example.com",
    "javascript:alert(1)",
    "javascript://example.com/%0aalert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    // A browser reads it as a path of the site that shows it.
    "http:page",
    "http:/page",
    "http://",
    "http://a b",
    " http://example.com",
    "http://example.com ",
    "\thttp://example.com",
    "http://example.com\n",
  ])("is not %j", (text) => {
    expect(isWebAddress(text)).toBe(false);
  });
});
