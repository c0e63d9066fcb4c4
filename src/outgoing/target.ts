import { type Blocked, blocked } from "./outcome.ts";

/** A URL that is allowed as far as can be checked without resolving its host. */
export interface Target {
  kind: "target";
  url: URL;
  /** The host in lower case, without a trailing dot. */
  host: string;
}

const URL_LENGTH_MAX = 4096;

/**
 * Ports from 1024 up of line-based protocols, whose servers may run lines of an HTTP request as
 * commands.
 */
const BLOCKED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10_080, 11_211,
]);

/** Characters that URL parsers remove or replace. */
// oxlint-disable-next-line no-control-regex
const AMBIGUOUS = /[\u0000-\u0020\u007f-\u00a0\\\u2028\u2029\ufeff]/;

/**
 * Parses the URL of a request or of a redirect.
 *
 * Uses the platform's URL parser, which also parses the URL when the request is sent. So spellings
 * such as `0x7f.1`, `127.1` or `2130706433` mean the same host here and there.
 *
 * @param base Base URL, if `text` may be relative.
 */
export function parseTarget(text: string, base?: URL): Target | Blocked {
  if (text.length > URL_LENGTH_MAX) return blocked("the address is too long");
  // SECURITY: parsers remove line breaks and tabs, and turn a backslash into a slash.
  if (AMBIGUOUS.test(text)) return blocked("the address has characters that none may have");
  const url = URL.parse(text, base);
  if (!url) return blocked("this is no address");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return blocked("only http and https addresses are asked for");
  }
  if (url.username !== "" || url.password !== "") {
    return blocked("an address must not hold credentials");
  }
  if (!isWebPort(url.port)) return blocked(`port ${url.port} is not asked for`);
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  if (host === "" || host.split(".").includes("")) return blocked("this is no name of a host");
  url.hash = "";
  return { kind: "target", url, host };
}

/** Allows ports 80, 443, and ports from 1024 up except `BLOCKED_PORTS`. */
function isWebPort(text: string): boolean {
  const port = Number(text);
  return text === "" || port === 80 || port === 443 || (port >= 1024 && !BLOCKED_PORTS.has(port));
}
