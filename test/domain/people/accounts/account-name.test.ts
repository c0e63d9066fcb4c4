import { describe, expect, it } from "vitest";

import { checkAccountName } from "../../../../src/domain/people/accounts/account-name.ts";
import { Failure } from "../../../../src/lib/failure.ts";

/** The kind and message of the failure for a name, undefined for an allowed one. */
function refusalOf(name: string): string | undefined {
  try {
    checkAccountName(name);
    return undefined;
  } catch (error) {
    return error instanceof Failure ? `${error.kind}: ${error.message}` : "a bug";
  }
}

describe("checkAccountName", () => {
  it.each([
    "a",
    "7",
    "ada",
    "Ada.Lovelace",
    "ada-lovelace_1815",
    "0x",
    "a.b-c_d",
    "x".repeat(40),
    "adminer",
    "user1",
    "api.v1",
    "keys",
    "ada.png.org",
  ])("allows %j", (name) => {
    expect(refusalOf(name)).toBeUndefined();
  });

  it.each([
    ["an empty name", ""],
    ["41 characters", "x".repeat(41)],
    ["a space", "ada lovelace"],
    ["a leading space", " ada"],
    ["a trailing space", "ada "],
    ["a slash", "ada/lovelace"],
    ["a backslash", "ada\\lovelace"],
    ["an escaped slash", "ada%2flovelace"],
    ["the current folder", "."],
    ["the parent folder", ".."],
    ["a leading dot", ".ada"],
    ["a trailing dot", "ada."],
    ["two dots", "ada..lovelace"],
    ["a leading dash, which git would parse as an option", "-ada"],
    ["a trailing dash", "ada-"],
    ["two dashes", "ada--lovelace"],
    ["a leading underscore", "_ada"],
    ["different separators side by side", "ada.-lovelace"],
    ["a trailing line break", "ada\n"],
    ["a line break within", "ada\nlovelace"],
    ["a carriage return", "ada\r"],
    ["a NUL", "ada\0"],
    ["an escape", "ada\u001b[31m"],
    ["an email address", "ada@example.com"],
    ["a colon", "ada:lovelace"],
    ["a route parameter", ":username"],
    ["markup", "<b>ada</b>"],
    ["an accent", "adá"],
    // Each of these looks like a plain name, or becomes one when its case is folded.
    ["a Cyrillic letter", "аda"],
    ["a Greek letter", "αda"],
    ["a full-width letter", "ａda"],
    ["the Kelvin sign", "\u{212a}elvin"],
    ["a dotless i", "adm\u{131}n"],
    ["a capital I with a dot", "\u{130}da"],
    ["a long s", "u\u{17f}er"],
    ["a letter with a combining accent", "ada\u0301"],
    ["a zero-width space", "ad\u200ba"],
    ["a soft hyphen", "ad\u00ada"],
    ["a right-to-left override", "ada\u202e"],
    ["a digit of another script", "ada٣"],
    ["a mathematical letter", "𝐚da"],
    ["an emoji", "ada🔑"],
  ])("refuses %s", (_, name) => {
    expect(refusalOf(name)).toEqual(
      expect.stringMatching(
        /^invalid: \[username\]: must (?:consist of ASCII letters|have at most 40)/,
      ),
    );
  });

  // An account name is the first segment of a URL path: it must not shadow a path of the service.
  it.each([
    "about",
    "admin",
    "api",
    "assets",
    "attachments",
    "avatar",
    "avatars",
    "captcha",
    "edgeforge-actions",
    "explore",
    "favicon.ico",
    "ghost",
    "gitea-actions",
    "issues",
    "login",
    "logout",
    "manifest.json",
    "metrics",
    "milestones",
    "notifications",
    "openapi.json",
    "org",
    "pulls",
    "repo",
    "repo-avatars",
    "robots.txt",
    "sitemap.xml",
    "swagger.v1.json",
    "user",
    "v2",
  ])("reserves %s for the service, in any case", (name) => {
    for (const written of [name, name.toUpperCase()]) {
      expect(refusalOf(written)).toBe(`invalid: name is reserved [name: ${written}]`);
    }
  });

  it.each([".keys", ".gpg", ".rss", ".atom", ".png"])(
    "reserves names ending in %s for the files and feeds of an account",
    (ending) => {
      for (const name of [`ada${ending}`, `ADA${ending.toUpperCase()}`]) {
        expect(refusalOf(name)).toBe(`invalid: name pattern is not allowed [pattern: *${ending}]`);
      }
    },
  );
});
