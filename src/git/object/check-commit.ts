import { readByteText } from "../byte-text.ts";
import { isOid } from "../oid.ts";
import { checkHeaderFrame } from "./check-headers.ts";
import { checkIdentity } from "./check-identity.ts";
import { type Finding, Findings, type FindingSeverities } from "./finding.ts";

/** Returns the findings of `git fsck` on a commit. */
export function checkCommit(content: Uint8Array, severities: FindingSeverities): Finding[] {
  const findings = new Findings(severities);
  const frame = checkHeaderFrame(content);
  if (frame) {
    findings.add(frame);
    return findings.list;
  }

  const text = readByteText(content);
  let at = 0;
  const skip = (word: string): boolean => {
    if (!text.startsWith(word, at)) return false;
    at += word.length;
    return true;
  };
  /** Consumes the rest of the line; false if it is not an object id. */
  const takeOid = (): boolean => {
    const end = text.indexOf("\n", at);
    const oid = text.slice(at, end);
    at = end + 1;
    return isOid(oid);
  };
  const takeIdentity = (): boolean => {
    const fault = checkIdentity(text, at);
    at = text.indexOf("\n", at) + 1;
    return !(fault && findings.add(fault));
  };

  if (!skip("tree ")) {
    findings.add("missingTree");
    return findings.list;
  }
  if (!takeOid() && findings.add("badTreeSha1")) return findings.list;
  while (skip("parent ")) {
    if (!takeOid() && findings.add("badParentSha1")) return findings.list;
  }
  let authors = 0;
  while (skip("author ")) {
    authors++;
    if (!takeIdentity()) return findings.list;
  }
  if (authors === 0 && findings.add("missingAuthor")) return findings.list;
  if (authors > 1 && findings.add("multipleAuthors")) return findings.list;
  if (!skip("committer ")) {
    findings.add("missingCommitter");
    return findings.list;
  }
  if (!takeIdentity()) return findings.list;
  if (content.includes(0)) findings.add("nulInCommit");
  return findings.list;
}
