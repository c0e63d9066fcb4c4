import { type ByteText, utf8Length } from "../byte-text.ts";

/** Longest line with an encoded word, in bytes. */
const ENCODED_LINE_MAX = 76;
const WORD_START = "=?UTF-8?q?";

/**
 * True for text that is not plain ASCII. An escape character counts too, because it could control a
 * reader's terminal.
 */
const isOutsideAscii = (text: string): boolean => text.includes("\x1b") || /[\x80-\xff]/.test(text);

/** True for a text that must be written as encoded words in a header. */
export const needsEncoding = (text: ByteText): boolean =>
  isOutsideAscii(text) || text.includes("\n") || text.includes("=?");

/** True for a body that is not plain ASCII. */
export const isEightBit = (text: ByteText): boolean => isOutsideAscii(text);

/**
 * Formats a text as encoded words, folded over as many lines as needed.
 *
 * @param column Bytes before the text on its first line.
 * @param isName True for the display name before an address, where fewer characters may stay
 * unencoded.
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

/** Splits a text into UTF-8 characters. Each invalid byte is a character of its own. */
function splitChars(text: ByteText): ByteText[] {
  const chars: ByteText[] = [];
  for (let at = 0; at < text.length;) {
    const length = utf8Length(text, at) || 1;
    chars.push(text.slice(at, at + length) as ByteText);
    at += length;
  }
  return chars;
}

/** Quotes a display name if it contains characters that are special in addresses. */
export const quoteName = (name: ByteText): string =>
  /[()<>[\]:;@\\,."]/.test(name) ? `"${name.replaceAll(/["\\]/g, "\\$&")}"` : name;

const isBlank = (char: string | undefined): boolean =>
  char !== undefined && " \t\n\r".includes(char);

/**
 * Folds a text into lines at white space, as git does.
 *
 * @param column Bytes before the text on its first line.
 * @param width Maximum columns of a line.
 */
export function foldLine(text: string, column: number, width: number): string {
  let folded = "";
  let lineStart = 0;
  /**
   * Index of the blank before the current word; undefined for the first word of a continuation
   * line.
   */
  let blank: number | undefined = 0;
  let used = column;
  for (let at = 0; ;) {
    const char = text[at];
    if (char !== undefined && !isBlank(char)) {
      // By git's width tables, a control character has width -1.
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
