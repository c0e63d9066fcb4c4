import { type Blocked, blocked } from "./outcome.ts";

/** An address that may be asked for as far as it can be told without knowing where it leads. */
export interface Target {
  kind: "target";
  url: URL;
  /** The host in lower case, without the dot that may end a name. */
  host: string;
}

const URL_LENGTH_MAX = 4096;

/** Ports from 1024 up on which something listens that reads any line it is sent as an order. */
const PORTS_OF_OTHERS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10_080, 11_211,
]);

/** Anything a parser of addresses takes away or turns into something else. */
// oxlint-disable-next-line no-control-regex
const AMBIGUOUS = /[\u0000-\u0020\u007f-\u00a0\\\u2028\u2029\ufeff]/;

/**
 * Reads the address of a request or of a redirect.
 *
 * The platform's own parser decides what a host is: it is the one that the request will be sent by, so
 * that nothing else can be meant by `0x7f.1`, `127.1` or `2130706433`.
 *
 * @param base What `text` may be relative to.
 */
export function parseTarget(text: string, base?: URL): Target | Blocked {
  if (text.length > URL_LENGTH_MAX) return blocked("the address is too long");
  // SECURITY: line breaks and tabs vanish in parsing, and a backslash becomes a slash.
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

/** Of the ports below 1024 only the web's own two. */
function isWebPort(text: string): boolean {
  const port = Number(text);
  return text === "" || port === 80 || port === 443 || (port >= 1024 && !PORTS_OF_OTHERS.has(port));
}
