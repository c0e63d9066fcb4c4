import { encodeUtf8 } from "../../../git/byte-text.ts";
import { formatBase64 } from "../../../lib/base64.ts";

/** An address of a remote without credentials, and the credentials that were in it or given. */
export interface RemoteAddress {
  /** `http:` or `https:`, without credentials, query, fragment and trailing slashes. */
  readonly url: string;
  /** "" without credentials, as is the password. */
  readonly username: string;
  readonly password: string;
}

/** The reason why a text is no address of a remote; each door words it in its own way. */
export interface RefusedAddress {
  readonly refusal:
    | "local" // a path, a file: address, or nothing that is an address at all
    | "scheme" // an address of another protocol: ssh, git, ftp, ext
    | "malformed" // an http address that is broken or ambiguous
    | "credentials"; // credentials that can't be sent
  /**
   * The scheme without its colon, and the host; "" where there are none. They have no credentials.
   */
  readonly scheme: string;
  readonly host: string;
}

interface Credentials {
  readonly username: string;
  readonly password: string;
}

const ADDRESS_LENGTH_MAX = 4096;
const CREDENTIAL_LENGTH_MAX = 4096;

/**
 * Characters that URL parsers remove or replace, so that an address would lead elsewhere than it
 * seems to.
 */
// oxlint-disable-next-line no-control-regex
const AMBIGUOUS = /[\u0000-\u0020\u007f-\u00a0\\\u2028\u2029\ufeff]/;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Parses the address of a remote, as people enter it.
 *
 * SECURITY: only http and https lead out of the service. The credentials are taken out of the
 * address, which is stored and shown without them. Whether the host may be asked is for
 * `Outgoing.check`, and again for each request.
 *
 * @param given Credentials that replace those in the address, unless both are "".
 */
export function parseRemoteAddress(
  text: string,
  given: Credentials = { username: "", password: "" },
): RemoteAddress | RefusedAddress {
  const trimmed = text.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):(?=\/\/)/i.exec(trimmed)?.[1]?.toLowerCase();
  // As git reads them: without a scheme and two slashes it is a path, of this machine or by ssh, or
  // a remote helper.
  if (scheme === undefined || scheme === "file") return refused("local", scheme ?? "");
  if (scheme !== "http" && scheme !== "https") {
    return refused("scheme", scheme, URL.parse(trimmed)?.hostname);
  }
  const isOdd = AMBIGUOUS.test(trimmed) || /^[^:]*:\/\/\//.test(trimmed);
  if (trimmed.length > ADDRESS_LENGTH_MAX || isOdd) {
    return refused("malformed", scheme);
  }
  const url = URL.parse(trimmed);
  if (!url || url.hostname === "" || url.search !== "" || url.hash !== "") {
    return refused("malformed", scheme, url?.hostname);
  }
  const credentials =
    given.username === "" && given.password === "" ? decodeCredentials(url) : given;
  if (!credentials || !isSendable(credentials)) return refused("credentials", scheme, url.hostname);
  url.username = "";
  url.password = "";
  return { url: url.href.replace(/\/+$/, ""), ...credentials };
}

/** Whether an address was refused. */
export const isRefused = (address: RemoteAddress | RefusedAddress): address is RefusedAddress =>
  "refusal" in address;

const refused = (
  refusal: RefusedAddress["refusal"],
  scheme: string,
  host = "",
): RefusedAddress => ({ refusal, scheme, host });

/** @returns Undefined for percent-encoding that is broken. */
function decodeCredentials({ username, password }: URL): Credentials | undefined {
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

/** The user name of Basic authentication ends at the first colon. @see RFC 7617, section 2. */
const isSendable = ({ username, password }: Credentials): boolean =>
  !username.includes(":") &&
  [username, password].every((each) => each.length <= CREDENTIAL_LENGTH_MAX && !CONTROL.test(each));

/** The value of `Authorization` for a remote; undefined without credentials. */
export function formatAuthorization({ username, password }: Credentials): string | undefined {
  if (username === "" && password === "") return undefined;
  return `Basic ${formatBase64(encodeUtf8(`${username}:${password}`))}`;
}

/** User names of this length are taken for tokens, which some forges want there. */
const TOKEN_LENGTH_MIN = 16;

const REDACTED = "***";

/**
 * Removes the credentials of a remote from a text, in every form in which they are sent, and those
 * of any address in it.
 *
 * SECURITY: a remote may repeat what it was sent in any of its messages.
 */
export function redact(text: string, address: Credentials): string {
  const { username, password } = address;
  const secrets = new Set<string>();
  const hide = (secret: string): void => {
    secrets
      .add(secret)
      .add(encodeURIComponent(secret))
      .add(formatBase64(encodeUtf8(secret)));
  };
  if (password !== "") hide(password);
  if (username.length >= TOKEN_LENGTH_MIN || (username !== "" && password === "")) hide(username);
  const sent = formatAuthorization(address);
  if (sent) secrets.add(sent).add(sent.slice("Basic ".length));
  let redacted = text;
  // The longest first: one may be a part of another.
  for (const secret of [...secrets].toSorted((a, b) => b.length - a.length)) {
    redacted = redacted.replaceAll(secret, REDACTED);
  }
  return redacted.replaceAll(/(\/\/)[^/\s@]+@/g, `$1${REDACTED}@`);
}
