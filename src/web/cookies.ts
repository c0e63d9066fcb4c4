import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";

import { makeSecret } from "../auth/secret.ts";
import type { WebEnv } from "./env.ts";

/** The cookie of a database bookmark: see `x-d1-bookmark`. */
export const BOOKMARK_COOKIE = "edgeforge_bookmark";

/**
 * The cookies of pages. Scripts can't read them, and no other host receives them.
 *
 * - `session`: the secret of a session.
 * - `pending`: the secret of a sign-in whose second factor or new password is still due.
 * - `form`: a random value to which the forms of readers without a session are bound.
 */
type CookieName = "session" | "pending" | "form";

/**
 * The name of a cookie as browsers see it.
 *
 * SECURITY: with the prefix `__Host-`, browsers accept the cookie from this very host and over TLS
 * only, so that no neighbouring host can set it. Over plain http browsers refuse the prefix; a
 * service whose address begins with https never reads the name without it.
 */
const nameOf = (c: Context<WebEnv>, name: CookieName): string =>
  `${isSecure(c) ? "__Host-" : ""}edgeforge_${name}`;

/** By the service's own address, since a proxy in front of it may end TLS. */
const isSecure = (c: Context<WebEnv>): boolean => c.var.base.rootUrl.startsWith("https:");

/** The value of a cookie; undefined if it is missing or not of the form that this service sets. */
export function readCookie(c: Context<WebEnv>, name: CookieName): string | undefined {
  const value = getCookie(c, nameOf(c, name));
  return value !== undefined && /^[0-9a-f]{40}$/.test(value) ? value : undefined;
}

/** @param lifeMs How long browsers keep it; without it, until they are closed. */
export function writeCookie(
  c: Context<WebEnv>,
  name: CookieName,
  value: string,
  lifeMs?: number,
): void {
  setCookie(c, nameOf(c, name), value, {
    ...optionsOf(c),
    ...(lifeMs !== undefined && { maxAge: lifeMs / 1000 }),
  });
}

export function deleteCookie(c: Context<WebEnv>, name: CookieName): void {
  setCookie(c, nameOf(c, name), "", { ...optionsOf(c), maxAge: 0 });
}

// Lax: a link from elsewhere finds its reader signed in, a form from elsewhere does not.
const optionsOf = (c: Context<WebEnv>) =>
  ({ path: "/", secure: isSecure(c), httpOnly: true, sameSite: "Lax" }) as const;

/** For how long pages after a form read what it wrote, in seconds: replicas lag for less. */
const BOOKMARK_SECONDS = 60;

/** Lets the following pages see what this request wrote to the database. */
export function writeBookmark(c: Context<WebEnv>, bookmark: string): void {
  setCookie(c, BOOKMARK_COOKIE, bookmark, { ...optionsOf(c), maxAge: BOOKMARK_SECONDS });
}

/**
 * The secret to which the forms of this reader are bound: the session's, else one that is made
 * here.
 */
export function formSecret(c: Context<WebEnv>): string {
  const existing = readCookie(c, "session") ?? readCookie(c, "form");
  if (existing !== undefined) return existing;
  const secret = makeSecret();
  writeCookie(c, "form", secret);
  return secret;
}
