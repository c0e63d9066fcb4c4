import { type ByteText, readByteText } from "../byte-text.ts";
import { isOid, type Oid } from "../oid.ts";

/** Returns the part of a message that git displays: the text before the first NUL. */
export function untilNul(message: ByteText): ByteText {
  const end = message.indexOf("\0");
  return end < 0 ? message : (message.slice(0, end) as ByteText);
}

/** A header of a commit or tag. A multi-line value contains line feeds and no indentation. */
export interface Header {
  readonly name: ByteText;
  readonly value: ByteText;
}

/**
 * Splits a commit or tag into its headers and the message after the first empty line.
 *
 * A line that starts with a space continues the header before it.
 */
export function parseHeaders(content: Uint8Array): { headers: Header[]; message: ByteText } {
  let end = 0;
  while (end < content.length && !(content[end] === 0x0a && content[end + 1] === 0x0a)) end++;
  const text = readByteText(content, 0, end);
  const headers: { name: ByteText; value: ByteText }[] = [];
  // If there is no empty line, the text ends in the line feed of the last header, which is not part
  // of the value.
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const last = headers.at(-1);
    if (line.startsWith(" ") && last) {
      last.value = `${last.value}\n${line.slice(1)}` as ByteText;
      continue;
    }
    const space = line.indexOf(" ");
    const nameEnd = space < 0 ? line.length : space;
    headers.push({
      name: line.slice(0, nameEnd) as ByteText,
      value: line.slice(nameEnd + 1) as ByteText,
    });
  }
  return { headers, message: readByteText(content, Math.min(content.length, end + 2)) };
}

/**
 * Returns the id in a header, or undefined. As in git, lines that continue the header are not part
 * of it.
 */
export function readOidHeader({ value }: Header): Oid | undefined {
  const [line = ""] = value.split("\n", 1);
  return isOid(line) ? line : undefined;
}

/** Formats a header as stored, with its line feed. */
export function formatHeader(header: Header): ByteText {
  return `${header.name} ${header.value.replaceAll("\n", "\n ")}\n` as ByteText;
}
