import type { Attributes } from "../attributes/attribute-stack.ts";
import type { AttributeValue } from "../attributes/parse-rules.ts";
import { type ByteText, byteTextBytes, readByteText } from "../byte-text.ts";
import type { Oid } from "../oid.ts";
import { type FormattedCommit, formatCommitText } from "./format-commit.ts";

/** What attributes say of an entry of an archive. */
export interface ExportRules {
  readonly isIgnored: boolean;
  /** Lines end in two bytes: always, or where the content is text throughout. */
  readonly lineEnds: "crlf" | "auto-crlf" | undefined;
  readonly hasIdent: boolean;
  readonly isSubstituted: boolean;
  readonly isBinary: boolean | undefined;
}

/** The attributes that this is about. */
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

/** True if the content is not exported as it is stored. */
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
 * A content as `git archive` exports it.
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
  if (lineEnds && isEndedAnew(text, lineEnds)) {
    text = text.replaceAll(/(?<!\r)\n/g, "\r\n") as ByteText;
  }
  if (isSubstituted) {
    text = text.replaceAll(/\$Format:([^$]*)\$/g, (_, format: ByteText) =>
      formatCommitText(format, commit),
    ) as ByteText;
  }
  return text === stored ? content : byteTextBytes(text);
}

/** Puts the id of the blob where `$Id$` stands, or another id of this kind. */
function expandIdent(text: ByteText, oid: Oid): ByteText {
  return text.replaceAll(/\$Id(?::([^$\n]*))?\$/g, (whole, old: string | undefined) => {
    // A space within is of another system's: that stays.
    const inner = old?.indexOf(" ", 1) ?? -1;
    return inner > 0 && inner < (old?.length ?? 0) - 1 ? whole : `$Id: ${oid} $`;
  }) as ByteText;
}

/** True unless the lines end so already, or what decides by itself takes the content for no text. */
function isEndedAnew(text: ByteText, lineEnds: "crlf" | "auto-crlf"): boolean {
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
