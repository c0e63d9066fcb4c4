import type { Message } from "./message.ts";
import { type Notation, writeDetails, writeTitle } from "./write-pieces.ts";

const TEXT_CHARS_MAX = 12_000;

/** SECURITY: text has one tag, `<at>`, which calls people; a space that nobody sees breaks it. */
const escape = (text: string): string => text.replaceAll("<", "<\u200b");

const TEXT: Notation = { text: escape, link: escape };
const WITH_ADDRESS: Notation = {
  text: escape,
  link: (text, url) => `${escape(text)} (${escape(url)})`,
};

/** Plain text: only what details lead to is written out. */
export function toFeishuMessage(message: Message) {
  const title = writeTitle(message, TEXT);
  const details = writeDetails(message, WITH_ADDRESS, "\n", TEXT_CHARS_MAX);
  return {
    msg_type: "text",
    content: { text: details === "" ? `${title}\n${message.url}` : `${title}\n${details}` },
  };
}
