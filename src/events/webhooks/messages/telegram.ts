import type { Message } from "./message.ts";
import { HTML, writeDetails, writeTitle } from "./write-pieces.ts";

const TEXT_CHARS_MAX = 4096;

/** @see https://core.telegram.org/bots/api#html-style */
export function toTelegramMessage(message: Message) {
  const title = writeTitle(message, HTML);
  const details = writeDetails(message, HTML, "\n", TEXT_CHARS_MAX - title.length - 1);
  return {
    text: details === "" ? title : `${title}\n${details}`,
    parse_mode: "HTML",
    disable_web_page_preview: true,
  };
}
