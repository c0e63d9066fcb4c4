import type { Message } from "./message.ts";
import type { Piece } from "./message-parts.ts";

/** How a chat writes text and links, with all markup escaped. */
export interface Notation {
  readonly text: (text: string) => string;
  readonly link: (text: string, url: string) => string;
}

export const writePieces = (pieces: readonly Piece[], { text, link }: Notation): string =>
  pieces
    .map((piece) => (typeof piece === "string" ? text(piece) : link(piece.text, piece.url)))
    .join("");

/** The title followed by the sender. */
export const writeTitle = ({ title, sender }: Message, notation: Notation): string =>
  writePieces([...title, " by ", { text: sender.login, url: sender.html_url }], notation);

/**
 * Writes as many details as fit, in whole lines, so that no markup is cut.
 *
 * @param charsMax Limit of all lines together.
 */
export function writeDetails(
  { details }: Message,
  notation: Notation,
  lineEnd: string,
  charsMax: number,
): string {
  let written = "";
  for (const line of details) {
    const next = `${written === "" ? "" : lineEnd}${writePieces(line, notation)}`;
    if (written.length + next.length > charsMax) break;
    written += next;
  }
  return written;
}

/** Text without markup. */
export const PLAIN: Notation = { text: (text) => text, link: (text) => text };

const HTML_ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (char) => HTML_ENTITIES[char] ?? char);

export const HTML: Notation = {
  text: escapeHtml,
  link: (text, url) => `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`,
};

/** SECURITY: a bracket in the URL would end the link. */
const escapeMarkdownUrl = (url: string): string =>
  url.replaceAll(
    /[()<>\\\s]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );

/** Also prevents URLs within the text from becoming links. */
const escapeMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]()#|~<>]|:(?=\/\/)/g, String.raw`\$&`);

export const MARKDOWN: Notation = {
  text: escapeMarkdown,
  link: (text, url) => `[${escapeMarkdown(text)}](${escapeMarkdownUrl(url)})`,
};
