import { invalid, invalidField } from "../../../lib/failure.ts";

const LENGTH_MAX = 40;

/** First path segments of URLs that this service serves or that clients of other forges request. */
const RESERVED = new Set([
  ".",
  "..",
  "-",
  ".well-known",
  "about",
  "admin",
  "api",
  "assets",
  "attachments",
  "avatar",
  "avatars",
  "captcha",
  "css",
  "debug",
  "docs",
  "edgeforge-actions",
  "error",
  "explore",
  "favicon.ico",
  "fonts",
  "ghost",
  "gitea-actions",
  "help",
  "img",
  "install",
  "issues",
  "js",
  "login",
  "logout",
  "manifest.json",
  "metrics",
  "milestones",
  "new",
  "notifications",
  "openapi.json",
  "org",
  "pulls",
  "raw",
  "repo",
  "repo-avatars",
  "robots.txt",
  "search",
  "signing-key.gpg",
  "signing-key.ssh",
  "sitemap.xml",
  "ssh_info",
  "stars",
  "swagger.v1.json",
  "template",
  "user",
  "v2",
  "vendor",
]);
const RESERVED_ENDINGS = [".keys", ".gpg", ".rss", ".atom", ".png"];

/**
 * Validates an account name: ASCII letters and digits with single `-`, `.`, `_` between them, which
 * excludes lookalike names and path traversal.
 *
 * @param field The field name in the error message.
 * @throws Failure `invalid` for an invalid or reserved name.
 */
export function checkAccountName(name: string, field = "username"): void {
  if (name.length > LENGTH_MAX) {
    throw invalidField(field, `must have at most ${LENGTH_MAX} characters`);
  }
  if (!/^[0-9A-Za-z]+(?:[-._][0-9A-Za-z]+)*$/.test(name)) {
    throw invalidField(
      field,
      "must consist of ASCII letters and digits, with single dashes, dots and underscores between them",
    );
  }
  const lower = name.toLowerCase();
  if (RESERVED.has(lower)) throw invalid(`name is reserved [name: ${name}]`);
  const ending = RESERVED_ENDINGS.find((each) => lower.endsWith(each));
  if (ending) throw invalid(`name pattern is not allowed [pattern: *${ending}]`);
}
