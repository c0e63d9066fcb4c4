import { describe, expect, it } from "vitest";

import {
  formatAuthorization,
  parseRemoteAddress,
  redact,
} from "../../../../src/domain/exchange/remotes/remote-address.ts";

describe("parseRemoteAddress", () => {
  it.each([
    ["https://example.com/a/b.git", { url: "https://example.com/a/b.git" }],
    ["  HTTP://Example.com:3000/a/b/  ", { url: "http://example.com:3000/a/b" }],
    [
      "https://me:s%3Acret%20%C3%BC@example.com/a",
      { url: "https://example.com/a", username: "me", password: "s:cret ü" },
    ],
    ["https://token@example.com/a", { url: "https://example.com/a", username: "token" }],
    // The host is what follows the at sign, whatever stands before.
    [
      "https://github.com@evil.example/a",
      { url: "https://evil.example/a", username: "github.com" },
    ],
  ])("takes %s", (text, expected) => {
    expect(parseRemoteAddress(text)).toEqual({ username: "", password: "", ...expected });
  });

  it("prefers given credentials", () => {
    const given = { username: "", password: "token" };
    expect(parseRemoteAddress("https://a:b@example.com/x", given)).toEqual({
      url: "https://example.com/x",
      ...given,
    });
  });

  it.each([
    ["", "local", ""],
    ["/srv/git/a.git", "local", ""],
    ["../a", "local", ""],
    ["a.git", "local", ""],
    ["C:\\git\\a", "local", ""],
    ["file:///srv/git/a.git", "local", "file"],
    ["FILE://localhost/srv", "local", "file"],
    ["git@example.com:a/b.git", "local", ""],
    ["https:example.com/a", "local", ""],
    ["ext::sh -c id", "local", ""],
    ["-u https://example.com", "local", ""],
    ["ssh://git@example.com/a", "scheme", "ssh"],
    ["git://example.com/a", "scheme", "git"],
    ["ftp://example.com/a", "scheme", "ftp"],
    ["git+ssh://example.com/a", "scheme", "git+ssh"],
    ["https://", "malformed", "https"],
    // Which the platform would read as two slashes.
    ["https:///a", "malformed", "https"],
    ["https://example.com\\@evil.example/a", "malformed", "https"],
    ["https://exa\tmple.com/a", "malformed", "https"],
    ["https://example.com/a\r\nHost: x", "malformed", "https"],
    ["https://example.com/a?x=1", "malformed", "https", "example.com"],
    ["https://example.com/a#x", "malformed", "https", "example.com"],
    [`https://example.com/${"a".repeat(4100)}`, "malformed", "https"],
    ["https://a%zz@example.com/a", "credentials", "https", "example.com"],
    ["https://a%3Ab:c@example.com/a", "credentials", "https", "example.com"],
    ["https://a:b%0d%0ac@example.com/a", "credentials", "https", "example.com"],
  ])("refuses %j", (text, refusal, scheme, host?: string) => {
    const refused = parseRemoteAddress(text);
    expect(refused).toMatchObject({ refusal, scheme, ...(host !== undefined && { host }) });
    expect(JSON.stringify(refused)).not.toMatch(/%zz|b%0d/);
  });
});

describe("redact", () => {
  it("removes credentials in every form in which they are sent", () => {
    const address = { username: "me", password: "s:cret ü" };
    const sent = formatAuthorization(address) ?? "";
    const text = `s:cret ü, s%3Acret%20%C3%BC, ${sent}, ${sent.slice(6)}, http://x:y@h/, by me`;
    expect(redact(text, address)).toBe("***, ***, ***, ***, http://***@h/, by me");
  });

  it("takes a user name without a password, and a long one, for a token", () => {
    expect(redact("no abc", { username: "abc", password: "" })).toBe("no ***");
    const username = "ghp_0123456789abcdef";
    expect(redact(`no ${username}`, { username, password: "x-oauth-basic" })).toBe("no ***");
  });

  it("sends no header without credentials", () => {
    expect(formatAuthorization({ username: "", password: "" })).toBeUndefined();
  });
});
