import { type Repository } from "../../../shapes/repos/repository.ts";

/** Unescaped text, or a link. The notation of each chat escapes it. */
export type Piece = string | { readonly text: string; readonly url: string };

/**
 * The parts of a message by event. By default the URL is the repository's, and there are no
 * details.
 */
export interface ChatParts {
  /** One line, without the sender. */
  readonly title: readonly Piece[];
  /** The page of the message's subject. */
  readonly url?: string;
  /** Red, green and blue as one number. */
  readonly color: number;
  /** Details, one per line. */
  readonly details?: readonly (readonly Piece[])[];
}

export const GREEN = 0x1a7f37;
export const YELLOW = 0xd4a72c;
export const RED = 0xcf222e;
export const GRAY = 0x6e7781;

export const linkTo = ({ full_name: name, html_url: url }: Repository): Piece => ({
  text: shorten(name),
  url,
});

/** Characters of one text: messages are read at a glance, and every chat has a limit. */
const TEXT_CHARS_MAX = 120;

/** One line of bounded length, without control characters and bidirectional overrides. */
export function shorten(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
  if (line.length <= TEXT_CHARS_MAX) return line.toWellFormed();
  return `${line
    .slice(0, TEXT_CHARS_MAX - 1)
    .replace(/[\ud800-\udbff]$/, "")
    .toWellFormed()}…`;
}
