import type { ByteText } from "../byte-text.ts";
import { trimBlanks } from "./strip-space.ts";

/** A commit message, split as git does. */
export interface MessageParts {
  /** The first paragraph, joined into one line. */
  readonly subject: ByteText;
  /** The first line of the first paragraph. */
  readonly firstLine: ByteText;
  /** The text after the first paragraph, without leading empty lines. */
  readonly body: ByteText;
}

/** Splits a message. Text after a NUL is not part of it. */
export function splitMessage(message: ByteText): MessageParts {
  const [text = ""] = message.split("\0", 1);
  const lines = text.split("\n");
  let at = 0;
  const skipBlank = (): void => {
    while (at < lines.length && trimBlanks(lines[at] as string) === "") at++;
  };
  skipBlank();
  const first = at;
  const subject: string[] = [];
  for (; at < lines.length; at++) {
    const line = trimBlanks(lines[at] as string);
    if (line === "") break;
    subject.push(line);
  }
  skipBlank();
  return {
    subject: subject.join(" ") as ByteText,
    firstLine: (lines[first] ?? "") as ByteText,
    body: lines.slice(at).join("\n") as ByteText,
  };
}
