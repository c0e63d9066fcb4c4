import { type ByteText, readByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import { NULL_OID, type Oid } from "../oid.ts";
import { type Capabilities, formatCapabilities, parseCapabilities } from "./capabilities.ts";
import { readOidText } from "./oid-text.ts";
import { parseMessage } from "./pkt-cursor.ts";
import { FLUSH_PKT, formatLine, formatPkt, joinBytes } from "./pkt-line.ts";
import { ServerRefusal } from "./server-refusal.ts";

/** A ref as it is advertised to a client. */
export interface AdvertisedRef {
  readonly name: ByteText;
  readonly oid: Oid;
  /** For an annotated tag: the object it finally points to. */
  readonly peeledOid?: Oid | undefined;
  /** For a symbolic ref: the ref it names. */
  readonly symrefTarget?: ByteText | undefined;
}

export type ServiceName = "git-upload-pack" | "git-receive-pack";

/** The first lines of a smart HTTP response in versions 0 and 1. @see gitprotocol-http(5). */
export function formatServiceHeader(service: ServiceName): Uint8Array {
  return joinBytes([formatLine(`# service=${service}`), FLUSH_PKT]);
}

/**
 * The ref advertisement of versions 0 and 1.
 *
 * Refs are written in the caller's order, which must be by name with HEAD first. For a repository
 * without refs, the capabilities are advertised on a separate line.
 *
 * @see gitprotocol-pack(5), "Reference Discovery".
 */
export function formatAdvertisement(
  refs: readonly AdvertisedRef[],
  capabilities: Capabilities,
  version: 0 | 1 = 0,
): Uint8Array {
  const pieces = version === 1 ? [formatLine("version 1")] : [];
  const words = `\0${formatCapabilities(capabilities).join(" ")}`;
  if (refs.length === 0) pieces.push(formatLine(`${NULL_OID} capabilities^{}${words}`));
  for (const [index, ref] of refs.entries()) {
    pieces.push(formatLine(`${ref.oid} ${ref.name}${index === 0 ? words : ""}`));
    if (ref.peeledOid) pieces.push(formatLine(`${ref.peeledOid} ${ref.name}^{}`));
  }
  pieces.push(FLUSH_PKT);
  return joinBytes(pieces);
}

/** The capability advertisement of version 2. @see gitprotocol-v2(5). */
export function formatCapabilityAdvertisement(capabilities: Capabilities): Uint8Array {
  const lines = formatCapabilities(capabilities).map(formatLine);
  return joinBytes([formatLine("version 2"), ...lines, FLUSH_PKT]);
}

export interface Advertisement {
  readonly version: 0 | 1 | 2;
  readonly capabilities: Capabilities;
  /** Empty in version 2, where refs are requested with `ls-refs`. */
  readonly refs: readonly AdvertisedRef[];
}

/**
 * Reads a server's advertisement of any version, with or without the header of smart HTTP.
 *
 * @returns Undefined while the message is incomplete.
 * @throws ServerRefusal if the server refuses instead; GitError `protocol` if it violates the
 *   grammar.
 */
export function parseAdvertisement(
  bytes: Uint8Array,
  offset = 0,
): { value: Advertisement; next: number } | undefined {
  return parseMessage(bytes, offset, (cursor) => {
    let line = cursor.lineOr("flush");
    if (line?.startsWith("# service=")) {
      if (cursor.lineOr("flush") !== undefined) {
        throw new GitError("protocol", "service line without flush");
      }
      line = cursor.lineOr("flush");
    }
    if (line?.startsWith("ERR ")) throw new ServerRefusal(line.slice(4) as ByteText);
    if (line === "version 2") {
      const words: ByteText[] = [];
      for (line = cursor.lineOr("flush"); line !== undefined; line = cursor.lineOr("flush")) {
        words.push(line);
      }
      return { version: 2, capabilities: parseCapabilities(words), refs: [] };
    }
    const version = line === "version 1" ? 1 : 0;
    if (version === 1) line = cursor.lineOr("flush");

    let capabilities = parseCapabilities([]);
    const refs: AdvertisedRef[] = [];
    for (let index = 0; line !== undefined; index++, line = cursor.lineOr("flush")) {
      if (line.startsWith("shallow ")) continue;
      const nul = line.indexOf("\0");
      if (index === 0 && nul >= 0) capabilities = parseCapabilities(line.slice(nul + 1).split(" "));
      const text = nul < 0 ? line : line.slice(0, nul);
      const oid = readOidText(text.slice(0, 40));
      const name = text.slice(41) as ByteText;
      if (name === "capabilities^{}") continue;
      const last = refs.at(-1);
      if (last && name === `${last.name}^{}`) refs[refs.length - 1] = { ...last, peeledOid: oid };
      else refs.push({ name, oid });
    }
    return { version, capabilities, refs: withSymrefs(refs, capabilities) };
  });
}

/**
 * Adds the symref targets that version 0 sends as capabilities, as in
 * `symref=HEAD:refs/heads/main`.
 */
function withSymrefs(refs: readonly AdvertisedRef[], capabilities: Capabilities): AdvertisedRef[] {
  const targets = new Map<string, ByteText>();
  for (const value of capabilities.get("symref") ?? []) {
    const colon = value.indexOf(":");
    if (colon > 0) targets.set(value.slice(0, colon), value.slice(colon + 1) as ByteText);
  }
  return refs.map((ref) => {
    const symrefTarget = targets.get(ref.name);
    return symrefTarget === undefined ? ref : { ...ref, symrefTarget };
  });
}

/**
 * The protocol version that a client requests in its `Git-Protocol` header or `GIT_PROTOCOL`.
 *
 * The highest version listed wins; unknown versions count as 0. @see gitprotocol-http(5).
 */
export function requestedVersion(header: string | undefined): 0 | 1 | 2 {
  let version: 0 | 1 | 2 = 0;
  for (const word of (header ?? "").split(":")) {
    if (word === "version=2") version = 2;
    else if (word === "version=1" && version === 0) version = 1;
  }
  return version;
}

/**
 * The error packet that ends the exchange in any version, with a message in byte text.
 *
 * @see gitprotocol-pack(5), "ERR".
 */
export function formatErrorPkt(message: string): Uint8Array {
  return formatPkt(`ERR ${message}` as ByteText);
}

/** The message of an `ERR` packet; undefined for any other payload. */
export function parseErrorPkt(payload: Uint8Array): ByteText | undefined {
  const text = readByteText(payload, 0, Math.min(payload.length, 4));
  return text === "ERR " ? readByteText(payload, 4) : undefined;
}
