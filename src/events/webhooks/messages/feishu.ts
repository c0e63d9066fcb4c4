import type { Message } from "./message.ts";
import { type Notation, writeDetails, writeTitle } from "./write-pieces.ts";

const TEXT_CHARS_MAX = 12_000;

/**
 * SECURITY: text may contain one tag, `<at>`, which mentions people; a zero-width space breaks it.
 */
const escape = (text: string): string => text.replaceAll("<", "<\u200b");

const TEXT: Notation = { text: escape, link: escape };
const WITH_ADDRESS: Notation = {
  text: escape,
  link: (text, url) => `${escape(text)} (${escape(url)})`,
};

/** Plain text: URLs are written out for links in the details only. */
export function toFeishuMessage(message: Message) {
  const title = writeTitle(message, TEXT);
  const details = writeDetails(message, WITH_ADDRESS, "\n", TEXT_CHARS_MAX);
  return {
    msg_type: "text",
    content: { text: details === "" ? `${title}\n${message.url}` : `${title}\n${details}` },
  };
}
