import { invalid } from "../../lib/failure.ts";

const LENGTH_MAX = 40;

/** First segments of addresses, of this service's and of those that clients of the field expect. */
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
 * Whether an account may be called `name`: ASCII letters, digits and single `-`, `.`, `_` between
 * them, so that nothing looks like another name or a way out of a path.
 *
 * @throws Failure `invalid`.
 */
export function checkAccountName(name: string): void {
  if (name.length > LENGTH_MAX || !/^[0-9A-Za-z]+(?:[-._][0-9A-Za-z]+)*$/.test(name)) {
    throw invalid("[Username]: invalid username");
  }
  const lower = name.toLowerCase();
  if (RESERVED.has(lower)) throw invalid(`name is reserved [name: ${name}]`);
  const ending = RESERVED_ENDINGS.find((each) => lower.endsWith(each));
  if (ending) throw invalid(`name pattern is not allowed [pattern: *${ending}]`);
}
