import { type ByteText, byteTextBytes, readByteText } from "../byte-text.ts";
import { corrupt } from "../error.ts";
import type { Oid } from "../oid.ts";
import { formatHeader, type Header, parseHeaders, readOidHeader, untilNul } from "./headers.ts";
import { formatIdentity, type Identity, parseIdentity } from "./identity.ts";

export interface Commit {
  readonly treeOid: Oid;
  readonly parentOids: readonly Oid[];
  readonly author: Identity;
  readonly committer: Identity;
  /** Headers after `committer`, in order: `encoding`, `gpgsig`, `mergetag` and others. */
  readonly headers: readonly Header[];
  /** The message up to a NUL, where git stops reading. */
  readonly message: ByteText;
}

/**
 * Parses a commit. Lenient about identities (`parseIdentity`), strict about the tree and the
 * parents.
 *
 * @throws GitError `corrupt` if the tree is missing, or if the tree or a parent is not an object
 * id.
 */
export function parseCommit(content: Uint8Array): Commit {
  const { headers, message } = parseHeaders(content);
  let next = 0;
  const take = (name: string): Header | undefined =>
    headers[next]?.name === name ? headers[next++] : undefined;

  const tree = take("tree");
  const treeOid = tree && readOidHeader(tree);
  if (!tree || treeOid === undefined) throw corrupt("commit without tree");
  const parentOids: Oid[] = [];
  // Git reads line by line: a line that continues a header, or that has no id, ends the parents.
  for (let last = tree; !last.value.includes("\n");) {
    const parent = take("parent");
    if (!parent || parent.value === "") break;
    const parentOid = readOidHeader(parent);
    if (parentOid === undefined) throw corrupt("commit: parent is not an object id");
    parentOids.push(parentOid);
    last = parent;
  }
  const author = parseIdentity(take("author")?.value ?? ("" as ByteText));
  // Of several authors, the first counts.
  while (take("author"));
  const committer = parseIdentity(take("committer")?.value ?? ("" as ByteText));
  return {
    treeOid,
    parentOids,
    author,
    committer,
    headers: headers.slice(next),
    message: untilNul(message),
  };
}

/** Formats a commit as stored. */
export function formatCommit(commit: Commit): Uint8Array {
  const { treeOid, parentOids, author, committer, headers, message } = commit;
  const lines = [
    `tree ${treeOid}\n`,
    ...parentOids.map((parentOid) => `parent ${parentOid}\n`),
    `author ${formatIdentity(author)}\n`,
    `committer ${formatIdentity(committer)}\n`,
    ...headers.map(formatHeader),
  ];
  return byteTextBytes(`${lines.join("")}\n${message}` as ByteText);
}

/** Returns the value of the first header called `name`, such as `gpgsig` or `encoding`. */
export function findHeader(headers: readonly Header[], name: string): ByteText | undefined {
  return headers.find((header) => header.name === name)?.value;
}

/** A signature, and the signed bytes. */
export interface SplitSignature {
  readonly signature: ByteText;
  readonly signed: Uint8Array;
}

/**
 * Splits a signed commit into its signature and the bytes that were signed: the stored bytes
 * without the signature headers.
 *
 * The signed bytes are exactly the stored ones, never formatted from parsed values, because a
 * signature covers bytes. As in git, every header whose name begins with `gpgsig` is removed, and
 * the values of several `gpgsig` headers are concatenated. Only headers after `committer` are
 * recognized, so that removing them changes nothing that `parseCommit` returns except `headers`.
 *
 * @returns Undefined for a commit without signature.
 * @see parse_buffer_signed_by_header in git's commit.c.
 */
export function splitSignature(content: Uint8Array): SplitSignature | undefined {
  let end = 0;
  while (end < content.length && !(content[end] === 0x0a && content[end + 1] === 0x0a)) end++;
  const head = readByteText(content, 0, Math.min(content.length, end + 1));
  let kept = "";
  let signature = "";
  let part: "kept" | "signature" | "dropped" = "kept";
  let isBehindCommitter = false;
  for (let at = 0, next = 0; at < head.length; at = next) {
    next = head.indexOf("\n", at) + 1 || head.length;
    const line = head.slice(at, next);
    const isContinued = line.startsWith(" ");
    if (!isContinued) {
      if (!isBehindCommitter || !line.startsWith("gpgsig")) part = "kept";
      else part = line.startsWith(SIGNATURE_HEADER) ? "signature" : "dropped";
      isBehindCommitter ||= line.startsWith("committer ");
    }
    if (part === "kept") kept += line;
    if (part === "signature") {
      signature += line.slice(isContinued ? 1 : SIGNATURE_HEADER.length);
    }
  }
  if (!signature.endsWith("\n")) return undefined;
  const signed = new Uint8Array(kept.length + content.length - head.length);
  signed.set(byteTextBytes(kept as ByteText));
  signed.set(content.subarray(head.length), kept.length);
  return { signature: signature.slice(0, -1) as ByteText, signed };
}

const SIGNATURE_HEADER = "gpgsig ";
