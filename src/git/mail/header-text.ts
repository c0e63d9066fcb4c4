import { type ByteText, utf8Length } from "../byte-text.ts";

/** Longest line with an encoded word, in bytes. */
const ENCODED_LINE_MAX = 76;
const WORD_START = "=?UTF-8?q?";

/** True for what mails may not hold as it is; an escape could reach somebody's terminal. */
const isOutsideAscii = (text: string): boolean => text.includes("\x1b") || /[\x80-\xff]/.test(text);

/** True for a text that must be encoded to stand in a header. */
export const needsEncoding = (text: ByteText): boolean =>
  isOutsideAscii(text) || text.includes("\n") || text.includes("=?");

/** True for a body that is more than ASCII. */
export const isEightBit = (text: ByteText): boolean => isOutsideAscii(text);

/**
 * A text in encoded words, over as many lines as it takes.
 *
 * @param column  Bytes that stand before it on its line.
 * @param isName  True for the name before an address, where less may stand as it is.
 * @see RFC 2047.
 */
export function encodeWords(text: ByteText, column: number, isName: boolean): string {
  const special = isName ? /[^A-Za-z0-9!*+/-]/ : /[^!-<>@-^`-~]/;
  let encoded = WORD_START;
  let length = column + WORD_START.length;
  for (const char of splitChars(text)) {
    let bytes = char as string;
    if (char.length > 1 || special.test(char)) {
      bytes = Array.from(char, toHex).join("");
    }
    if (length + bytes.length + 2 > ENCODED_LINE_MAX) {
      encoded += `?=\n ${WORD_START}`;
      length = WORD_START.length + 1;
    }
    encoded += bytes;
    length += bytes.length;
  }
  return `${encoded}?=`;
}

const toHex = (byte: string): string =>
  `=${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** Characters of UTF-8; bytes that are none, each by itself. */
function splitChars(text: ByteText): ByteText[] {
  const chars: ByteText[] = [];
  for (let at = 0; at < text.length;) {
    const length = utf8Length(text, at) || 1;
    chars.push(text.slice(at, at + length) as ByteText);
    at += length;
  }
  return chars;
}

/** A name in quotes, if it holds what has a meaning in addresses. */
export const quoteName = (name: ByteText): string =>
  /[()<>[\]:;@\\,."]/.test(name) ? `"${name.replaceAll(/["\\]/g, "\\$&")}"` : name;

const isBlank = (char: string | undefined): boolean =>
  char !== undefined && " \t\n\r".includes(char);

/**
 * Folds a text into lines at its blanks, as git does.
 *
 * @param column Bytes that stand before it on its line.
 * @param width  Columns of a line at most.
 */
export function foldLine(text: string, column: number, width: number): string {
  let folded = "";
  let lineStart = 0;
  /** The blank before the word that is being measured; undefined for the first of a later line. */
  let blank: number | undefined = 0;
  let used = column;
  for (let at = 0; ;) {
    const char = text[at];
    if (char !== undefined && !isBlank(char)) {
      // Control characters take a column back, by git's tables.
      used += char < " " || char === "\x7f" ? -1 : 1;
      at++;
      continue;
    }
    if (used <= width || blank === undefined) {
      if (char === undefined && at === lineStart) return folded;
      folded += blank === undefined ? ` ${text.slice(lineStart, at)}` : text.slice(blank, at);
      if (char === undefined) return folded;
      blank = at;
      if (char === "\t") used |= 7;
      used++;
      at++;
      continue;
    }
    folded += "\n";
    at = blank + (isBlank(text[blank]) ? 1 : 0);
    lineStart = at;
    blank = undefined;
    used = 1;
  }
}
