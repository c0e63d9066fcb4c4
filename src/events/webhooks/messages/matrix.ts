import type { Message } from "./message.ts";
import { HTML, type Notation, PLAIN, writeDetails, writeTitle } from "./write-pieces.ts";

/** An event is limited to 64 KiB and contains the details twice. */
const TEXT_CHARS_MAX = 12_000;

/** In plain text the URL follows the text. */
const TEXT: Notation = { text: PLAIN.text, link: (text, url) => `${text} (${url})` };

/** @see https://spec.matrix.org/latest/client-server-api/#mnotice */
export function toMatrixMessage(message: Message) {
  const write = (notation: Notation, lineEnd: string): string =>
    [writeTitle(message, notation), writeDetails(message, notation, lineEnd, TEXT_CHARS_MAX)]
      .filter((part) => part !== "")
      .join(lineEnd);
  return {
    msgtype: "m.notice",
    body: write(TEXT, "\n"),
    format: "org.matrix.custom.html",
    formatted_body: write(HTML, "<br>"),
    // SECURITY: text written by other users must not mention anyone.
    "m.mentions": {},
  };
}
