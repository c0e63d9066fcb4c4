import type { Attributes } from "../attributes/attribute-stack.ts";
import type { AttributeValue } from "../attributes/parse-rules.ts";
import { type ByteText, byteTextBytes, readByteText } from "../byte-text.ts";
import type { Oid } from "../oid.ts";
import { CommitFormatter, type FormattedCommit } from "./format-commit.ts";

/** The attributes of an archive entry. */
export interface ExportRules {
  readonly isIgnored: boolean;
  /** Converts line ends to CRLF: always, or only if the whole content is text. */
  readonly lineEnds: "crlf" | "auto-crlf" | undefined;
  readonly hasIdent: boolean;
  readonly isSubstituted: boolean;
  readonly isBinary: boolean | undefined;
}

/** The attributes that `readExportRules` needs. */
export const EXPORT_ATTRIBUTES = [
  "export-ignore",
  "export-subst",
  "text",
  "crlf",
  "eol",
  "ident",
  "diff",
] as const;

export function readExportRules(attributes: Attributes): ExportRules {
  const diff = attributes.get("diff");
  return {
    isIgnored: attributes.get("export-ignore") === true,
    lineEnds: readLineEnds(attributes),
    hasIdent: attributes.get("ident") === true,
    isSubstituted: attributes.get("export-subst") === true,
    isBinary: typeof diff === "boolean" ? !diff : undefined,
  };
}

/** True if the exported content may differ from the stored content. */
export const isConverted = ({ lineEnds, hasIdent, isSubstituted }: ExportRules): boolean =>
  lineEnds !== undefined || hasIdent || isSubstituted;

const textOf = (value: AttributeValue | undefined): string | undefined =>
  typeof value === "object" ? value.text : undefined;

type TextAction = "text" | "binary" | "auto" | undefined;

function readTextAction(value: AttributeValue | undefined): TextAction {
  if (value === true || textOf(value) === "input") return "text";
  if (value === false) return "binary";
  return textOf(value) === "auto" ? "auto" : undefined;
}

function readLineEnds(attributes: Attributes): ExportRules["lineEnds"] {
  const action = readTextAction(attributes.get("text")) ?? readTextAction(attributes.get("crlf"));
  if (action === "binary" || textOf(attributes.get("eol")) !== "crlf") return undefined;
  return action === "auto" ? "auto-crlf" : "crlf";
}

/**
 * Converts a content as `git archive` does.
 *
 * @see gitattributes(5), "text", "eol", "ident" and "export-subst".
 */
export function exportContent(
  content: Uint8Array,
  blobOid: Oid,
  rules: ExportRules,
  commit: FormattedCommit,
): Uint8Array {
  const { lineEnds, hasIdent, isSubstituted } = rules;
  const stored = readByteText(content);
  let text = stored;
  if (hasIdent) text = expandIdent(text, blobOid);
  if (lineEnds && needsCrlf(text, lineEnds)) {
    text = text.replaceAll(/(?<!\r)\n/g, "\r\n") as ByteText;
  }
  if (isSubstituted) {
    const formatter = new CommitFormatter(commit);
    text = text.replaceAll(/\$Format:([^$]*)\$/g, (_, format: ByteText) =>
      formatter.format(format),
    ) as ByteText;
  }
  return text === stored ? content : byteTextBytes(text);
}

/** Replaces `$Id$` and earlier expansions of it by the id of the blob. */
function expandIdent(text: ByteText, oid: Oid): ByteText {
  return text.replaceAll(/\$Id(?::([^$\n]*))?\$/g, (whole, old: string | undefined) => {
    // An inner space marks the keyword of another version control system, which is kept.
    const inner = old?.indexOf(" ", 1) ?? -1;
    return inner > 0 && inner < (old?.length ?? 0) - 1 ? whole : `$Id: ${oid} $`;
  }) as ByteText;
}

/**
 * True if line ends are to be converted; `auto-crlf` excludes content that has CRs or looks binary.
 */
function needsCrlf(text: ByteText, lineEnds: "crlf" | "auto-crlf"): boolean {
  if (lineEnds === "crlf") return true;
  if (/[\r\0]/.test(text)) return false;
  let odd = 0;
  let plain = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text.charCodeAt(at);
    if (byte === 0x0a) continue;
    const isPlain = byte >= 0x20 ? byte !== 0x7f : [0x08, 0x09, 0x0c, 0x1b].includes(byte);
    if (isPlain) plain++;
    else odd++;
  }
  if (text.endsWith("\x1a")) odd--;
  return plain >> 7 >= odd;
}
