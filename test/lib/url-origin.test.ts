import { describe, expect, it } from "vitest";

import { urlOrigin } from "../../src/lib/url-origin.ts";

describe("the origin of a URL", () => {
  it.each([
    "https://forge.example/api/v1/version",
    "https://forge.example/",
    "https://forge.example:8443/a//b?c=/d#e",
    "http://127.0.0.1:8787/",
    "http://[::1]:8787/x",
    // SECURITY: the name of a user is no part of an origin, so that links can't be made to look
    // like another host's.
    "https://other.example@forge.example/x",
  ])("is that of the platform's parser, whatever was asked for before: %s", (url) => {
    for (const earlier of ["https://earlier.example/x", url]) {
      urlOrigin(earlier);
      expect(urlOrigin(url)).toBe(new URL(url).origin);
    }
  });
});
