import { type ByteText, byteTextBytes } from "../byte-text.ts";
import { corrupt } from "../error.ts";
import type { Oid } from "../oid.ts";
import type { SplitSignature } from "./commit.ts";
import { parseHeaders, readOidHeader, untilNul } from "./headers.ts";
import { formatIdentity, type Identity, parseIdentity } from "./identity.ts";
import { isObjectKind, type ObjectKind } from "./kind.ts";

/** An annotated tag. */
export interface Tag {
  readonly targetOid: Oid;
  readonly targetKind: ObjectKind;
  readonly name: ByteText;
  /** Undefined in tags from before 2005, which have no tagger line. */
  readonly tagger: Identity | undefined;
  /** The message. The signature of a signed tag is part of it, at the end. */
  readonly message: ByteText;
}

/**
 * Parses an annotated tag.
 *
 * @throws GitError `corrupt` if the id or the type of the tagged object cannot be read.
 */
export function parseTag(content: Uint8Array): Tag {
  const { headers, message } = parseHeaders(content);
  const [object, type, tag, tagger] = headers;
  const targetOid = object?.name === "object" ? readOidHeader(object) : undefined;
  if (targetOid === undefined) throw corrupt("tag without object");
  const [targetKind = ""] = type?.name === "type" ? type.value.split("\n", 1) : [];
  if (!isObjectKind(targetKind)) throw corrupt("tag without type");
  return {
    targetOid,
    targetKind,
    name: tag?.name === "tag" ? tag.value : ("" as ByteText),
    tagger: tagger?.name === "tagger" ? parseIdentity(tagger.value) : undefined,
    message: untilNul(message),
  };
}

/** Formats an annotated tag as stored. */
export function formatTag(tag: Tag): Uint8Array {
  const tagger = tag.tagger ? `tagger ${formatIdentity(tag.tagger)}\n` : "";
  const head = `object ${tag.targetOid}\ntype ${tag.targetKind}\ntag ${tag.name}\n${tagger}`;
  return byteTextBytes(`${head}\n${tag.message}` as ByteText);
}

const SIGNATURE_STARTS = [
  "-----BEGIN PGP SIGNATURE-----",
  "-----BEGIN PGP MESSAGE-----",
  "-----BEGIN SIGNED MESSAGE-----",
  "-----BEGIN SSH SIGNATURE-----",
];

/**
 * Returns the offset of the signature in a signed tag's message: the last line that begins one.
 *
 * @returns An offset into the message, or its length if there is no signature.
 */
export function findTagSignature(message: ByteText): number {
  let start = message.length;
  for (let line = 0; line < message.length;) {
    if (SIGNATURE_STARTS.some((marker) => message.startsWith(marker, line))) start = line;
    const next = message.indexOf("\n", line);
    if (next < 0) break;
    line = next + 1;
  }
  return start;
}

/**
 * Splits a signed tag into the signature at its end and the signed bytes before it.
 *
 * @returns Undefined for a tag without signature.
 */
export function splitTagSignature(content: Uint8Array): SplitSignature | undefined {
  const { message } = parseHeaders(content);
  const signature = message.slice(findTagSignature(message)) as ByteText;
  if (signature === "") return undefined;
  return { signature, signed: content.subarray(0, content.length - signature.length) };
}
