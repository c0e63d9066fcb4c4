import { type ByteText, byteTextBytes, readByteText } from "../byte-text.ts";
import { corrupt } from "../error.ts";
import { isOid, type Oid } from "../oid.ts";
import { formatHeader, type Header, parseHeaders } from "./headers.ts";
import { formatIdentity, type Identity, parseIdentity } from "./identity.ts";

export interface Commit {
  readonly treeOid: Oid;
  readonly parentOids: readonly Oid[];
  readonly author: Identity;
  readonly committer: Identity;
  /** What stands behind the committer, in order: `encoding`, `gpgsig`, `mergetag` and others. */
  readonly headers: readonly Header[];
  readonly message: ByteText;
}

/**
 * Reads a commit. Lenient about identities (`parseIdentity`), strict about the links that other
 * objects depend on.
 *
 * @throws GitError `corrupt` if the tree or a parent is missing or no object id.
 */
export function parseCommit(content: Uint8Array): Commit {
  const { headers, message } = parseHeaders(content);
  let next = 0;
  const take = (name: string): ByteText | undefined =>
    headers[next]?.name === name ? headers[next++]?.value : undefined;

  const treeOid = take("tree");
  if (treeOid === undefined || !isOid(treeOid)) throw corrupt("commit without tree");
  const parentOids: Oid[] = [];
  for (let parentOid = take("parent"); parentOid !== undefined; parentOid = take("parent")) {
    if (!isOid(parentOid)) throw corrupt("commit: parent is not an object id");
    parentOids.push(parentOid);
  }
  const author = parseIdentity(take("author") ?? ("" as ByteText));
  const committer = parseIdentity(take("committer") ?? ("" as ByteText));
  return { treeOid, parentOids, author, committer, headers: headers.slice(next), message };
}

/** A commit's bytes. */
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

/** The value of the first header called `name`, such as `gpgsig` or `encoding`. */
export function findHeader(headers: readonly Header[], name: string): ByteText | undefined {
  return headers.find((header) => header.name === name)?.value;
}

/**
 * A signed commit as its signer saw it: the stored bytes without the `gpgsig` header.
 *
 * The remaining bytes are exactly the stored ones, never a reformatting of parsed values: a
 * signature holds for bytes.
 *
 * @returns The signature and what it signs, or undefined for a commit without signature.
 */
export function splitSignature(
  content: Uint8Array,
): { signature: ByteText; signed: Uint8Array } | undefined {
  const text = readByteText(content);
  const headersEnd = text.indexOf("\n\n") + 1 || text.length;
  const head = text.slice(0, headersEnd);
  const start = head.startsWith("gpgsig ") ? 0 : head.indexOf("\ngpgsig ") + 1;
  if (start === 0 && !head.startsWith("gpgsig ")) return undefined;
  let end = head.indexOf("\n", start) + 1;
  while (end > 0 && head.charAt(end) === " ") end = head.indexOf("\n", end) + 1;
  if (end === 0) return undefined;
  const value = head.slice(start + "gpgsig ".length, end - 1).replaceAll("\n ", "\n");
  const signed = new Uint8Array(content.length - (end - start));
  signed.set(content.subarray(0, start));
  signed.set(content.subarray(end), start);
  return { signature: value as ByteText, signed };
}
