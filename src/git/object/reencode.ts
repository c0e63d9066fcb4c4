import { type ByteText, byteTextBytes, decodeBytes, encodeText } from "../byte-text.ts";
import { type Commit, findHeader } from "./commit.ts";
import type { Identity } from "./identity.ts";

/** Names of the encoding in which each byte is the code point of the same number. */
const LATIN_1 = /^(?:iso-?8859-1|latin-?1|l1)$/i;

/**
 * Re-encodes the text of a commit as UTF-8. If the encoding is unknown or the text is not valid in
 * it, the commit is returned unchanged.
 *
 * @see git-commit(1), "Discussion".
 */
export function toUtf8(commit: Commit): Commit {
  const encoding = findHeader(commit.headers, "encoding");
  if (encoding === undefined || /^utf-?8$/i.test(encoding)) return commit;
  const { author, committer, message } = commit;
  const texts = [author.name, author.email, committer.name, committer.email, message];
  const changed = texts.map((text) => reencode(text, encoding));
  if (changed.includes(undefined)) return commit;
  const [authorName, authorEmail, committerName, committerEmail, text] = changed as ByteText[];
  return {
    ...commit,
    author: { ...author, name: authorName, email: authorEmail } as Identity,
    committer: { ...committer, name: committerName, email: committerEmail } as Identity,
    message: text as ByteText,
  };
}

function reencode(text: ByteText, encoding: string): ByteText | undefined {
  if (LATIN_1.test(encoding)) return encodeText(text);
  const decoded = decodeBytes(byteTextBytes(text), encoding);
  return decoded === undefined ? undefined : encodeText(decoded);
}
