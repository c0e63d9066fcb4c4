import type { Message } from "./message.ts";
import { MARKDOWN, type Notation, writeDetails, writePieces } from "./write-pieces.ts";

const TITLE_CHARS_MAX = 256;
const DESCRIPTION_CHARS_MAX = 4096;

/** A title leads to one place as a whole. */
const TITLE: Notation = { text: MARKDOWN.text, link: MARKDOWN.text };

/** @see https://discord.com/developers/docs/resources/webhook#execute-webhook */
export function toDiscordMessage(message: Message) {
  const { title, sender, color, url } = message;
  return {
    content: "",
    // SECURITY: nothing that somebody else wrote calls anybody.
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

/** Leaves no backslash at the end that escapes nothing, and no half of a character. */
function cutMarkdown(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax - 1).replace(/(?:\\|[\ud800-\udbff])$/, "")}…`;
}
