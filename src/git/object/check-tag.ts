import { readByteText } from "../byte-text.ts";
import { isOid } from "../oid.ts";
import { isRefNameFormat } from "../ref-name.ts";
import { checkHeaderFrame } from "./check-headers.ts";
import { checkIdentity } from "./check-identity.ts";
import { type Finding, Findings, type FindingSeverities } from "./finding.ts";
import { isObjectKind } from "./kind.ts";

/** Returns the findings of `git fsck` on an annotated tag. */
export function checkTag(content: Uint8Array, severities: FindingSeverities): Finding[] {
  const findings = new Findings(severities);
  const frame = checkHeaderFrame(content);
  if (frame) {
    findings.add(frame);
    return findings.list;
  }

  const text = readByteText(content);
  let at = 0;
  /**
   * Consumes a line that starts with `word` and returns its rest; undefined, without consuming,
   * otherwise.
   */
  const take = (word: string): string | undefined => {
    if (!text.startsWith(word, at)) return undefined;
    const end = text.indexOf("\n", at);
    const value = text.slice(at + word.length, end);
    at = end + 1;
    return value;
  };

  const object = take("object ");
  if (object === undefined) {
    findings.add("missingObject");
    return findings.list;
  }
  if (!isOid(object) && findings.add("badObjectSha1")) return findings.list;
  const type = take("type ");
  if (type === undefined) {
    findings.add("missingTypeEntry");
    return findings.list;
  }
  if (!isObjectKind(type) && findings.add("badType")) return findings.list;
  const name = take("tag ");
  if (name === undefined) {
    findings.add("missingTagEntry");
    return findings.list;
  }
  if (!isRefNameFormat(`refs/tags/${name}`) && findings.add("badTagName")) return findings.list;

  const taggerStart = at + "tagger ".length;
  if (take("tagger ") === undefined) {
    if (findings.add("missingTaggerEntry")) return findings.list;
  } else {
    const fault = checkIdentity(text, taggerStart);
    if (fault) findings.add(fault);
  }
  if (take("gpgsig ") !== undefined || take("gpgsig-sha256 ") !== undefined) {
    while (take(" ") !== undefined);
  }
  if (at < text.length && !text.startsWith("\n", at)) findings.add("extraHeaderEntry");
  return findings.list;
}
