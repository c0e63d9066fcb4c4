import type { Message } from "./message.ts";
import { MARKDOWN, type Notation, writeDetails, writePieces } from "./write-pieces.ts";

const TITLE_CHARS_MAX = 256;
const DESCRIPTION_CHARS_MAX = 4096;

/** A title is a single link, so links within it are written as text. */
const TITLE: Notation = { text: MARKDOWN.text, link: MARKDOWN.text };

/** @see https://discord.com/developers/docs/resources/webhook#execute-webhook */
export function toDiscordMessage(message: Message) {
  const { title, sender, color, url } = message;
  return {
    content: "",
    // SECURITY: text written by other users must not mention anyone.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: cutMarkdown(writePieces(title, TITLE), TITLE_CHARS_MAX),
        description: writeDetails(message, MARKDOWN, "\n", DESCRIPTION_CHARS_MAX),
        url,
        color,
        author: { name: sender.login, url: sender.html_url, icon_url: sender.avatar_url },
      },
    ],
  };
}

/** Cuts Markdown without leaving a trailing backslash or half of a surrogate pair. */
function cutMarkdown(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax - 1).replace(/(?:\\|[\ud800-\udbff])$/, "")}…`;
}
