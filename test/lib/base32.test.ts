import { expect, it } from "vitest";

import { formatBase32 } from "../../src/lib/base32.ts";

// RFC 4648 section 10, in lower case and without padding.
it.each([
  ["", ""],
  ["f", "my"],
  ["fo", "mzxq"],
  ["foo", "mzxw6"],
  ["foob", "mzxw6yq"],
  ["fooba", "mzxw6ytb"],
  ["foobar", "mzxw6ytboi"],
])("writes %j as %s", (text, formatted) => {
  expect(formatBase32(new TextEncoder().encode(text))).toBe(formatted);
});
