import type { OauthApplication } from "../../../db/schema/index.ts";
import { isLoopbackAddress, isLoopbackName } from "../../../lib/loopback.ts";

/** Maximum number of redirect URIs of an application, and of characters in one. */
export const REDIRECT_URIS_MAX = 50;
export const REDIRECT_URI_LENGTH_MAX = 2000;

/** The rule of `isRedirectUri`, in words that follow a field's name. */
export const REDIRECT_URI_RULE =
  "must be an absolute address without a fragment, with http, https or a scheme of the application's own";

/**
 * Schemes by which a browser runs what an address contains, or opens what it finds on its own
 * machine.
 *
 * SECURITY: the address of a redirect comes from the person who registered the application.
 */
const FORBIDDEN_SCHEMES = new Set([
  "about:",
  "blob:",
  "data:",
  "file:",
  "filesystem:",
  "javascript:",
  "vbscript:",
  "view-source:",
  "ws:",
  "wss:",
]);

/** Whether an application may register an address to which users are sent back. */
export function isRedirectUri(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- parsers of URLs drop these, so that two texts are one address
  if (/[\u0000-\u0020\u007F\\#]/.test(text) || !/^[a-z][a-z0-9+.-]*:/i.test(text)) return false;
  const url = URL.parse(text);
  if (!url || FORBIDDEN_SCHEMES.has(url.protocol)) return false;
  // SECURITY: in `https://known.example@other.example` people read the wrong host.
  if (url.username !== "" || url.password !== "") return false;
  // SECURITY: parsers of URLs take them for parts of a host, which the page's policy names.
  if (isWeb(url) && /[;,*'"]/.test(url.host)) return false;
  return isWeb(url) ? /^https?:\/\/[^/]/i.test(text) : url.protocol.length > 2;
}

/** The rule of `isSecureRedirectUri`, in words that follow a field's name. */
export const SECURE_REDIRECT_URI_RULE =
  "must be an https address, an http address of the user's own machine, or one with a scheme of the application's own, without a fragment";

/**
 * Whether a client that nobody knows may be sent an answer at an address.
 *
 * SECURITY: not over http, but to a program on the user's own machine.
 */
export function isSecureRedirectUri(text: string): boolean {
  if (!isRedirectUri(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol !== "http:" || isLoopbackName(hostname);
}

/** The part of an address that users know: its host, or the scheme of an application. */
export function redirectHostOf(text: string): string {
  const url = new URL(text);
  return isWeb(url) ? url.host : url.protocol;
}

/** Whether an address leads to a program on the machine of whoever opens it. */
export function isLocalRedirectUri(text: string): boolean {
  const url = new URL(text);
  return isWeb(url) && isLoopbackName(url.hostname);
}

/**
 * Whether a request may name an address, given those that its client registered.
 *
 * SECURITY: the same text, character by character. Only a public client, which runs on the user's
 * own machine, may use another port of a loopback address than the registered one: it takes a port
 * that is free. That is so for `localhost`, too, with clients that describe themselves: many know
 * no other name, and each may register the name with a port all the same.
 *
 * @see RFC 8252 section 7.3; RFC 9700 section 2.1
 */
export function isRegistered(
  {
    redirectUris,
    isConfidential,
    registration,
  }: Pick<OauthApplication, "redirectUris" | "isConfidential" | "registration">,
  sent: string,
): boolean {
  if (redirectUris.includes(sent)) return true;
  if (isConfidential || !isRedirectUri(sent)) return false;
  const isNameTaken = registration !== "manual";
  const loopback = withoutPort(sent, isNameTaken);
  return (
    loopback !== undefined &&
    redirectUris.some((each) => withoutPort(each, isNameTaken) === loopback)
  );
}

/** A loopback address without its port, or undefined for any other address. */
function withoutPort(text: string, isNameTaken: boolean): string | undefined {
  const url = URL.parse(text);
  if (!url || !isWeb(url)) return undefined;
  // SECURITY: not `localhost` in general, which the machine's resolver may lead elsewhere.
  const isLoopback = isNameTaken ? isLoopbackName : isLoopbackAddress;
  if (!isLoopback(url.hostname)) return undefined;
  url.port = "";
  return url.href;
}

/** Whether a browser opens a URL itself. */
export const isWeb = ({ protocol }: URL): boolean => protocol === "http:" || protocol === "https:";
