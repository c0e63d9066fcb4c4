import type { Message } from "./message.ts";
import { HTML, type Notation, PLAIN, writeDetails, writeTitle } from "./write-pieces.ts";

/** An event has 64 KiB at most, and these are in it twice. */
const TEXT_CHARS_MAX = 12_000;

/** Where HTML is not read, the address stands beside the text. */
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
    // SECURITY: nothing that somebody else wrote calls anybody.
    "m.mentions": {},
  };
}
