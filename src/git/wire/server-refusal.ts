import { type ByteText, decodeText } from "../byte-text.ts";
import { GitError } from "../error.ts";

/** Maximum length of a server's message, in characters. */
const LENGTH_MAX = 500;

/** A server understands a request and refuses it, in words that it chooses. */
export class ServerRefusal extends GitError {
  constructor(text: ByteText) {
    const words = decodeText(text.slice(0, 4 * LENGTH_MAX) as ByteText)
      .replaceAll(/[\p{Cc}\p{Bidi_Control}\s]+/gu, " ")
      .trim()
      .slice(0, LENGTH_MAX)
      .toWellFormed();
    super("protocol", `the server says: ${words}`);
    this.name = "ServerRefusal";
  }
}
