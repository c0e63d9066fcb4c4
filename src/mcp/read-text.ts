import { tooLarge } from "../lib/failure.ts";
/** Maximum bytes of a text of which a part is shown. */
const BYTES_MAX = 32 * 1024 * 1024;

/** A part of a text. */
export interface TextPart {
  readonly text: string;
  /** Where the next part begins, in characters; undefined at the end. */
  readonly next: number | undefined;
}

/**
 * Reads a part of a body, up to the end of a line if there is one.
 *
 * Cost: the body up to the end of the part.
 *
 * @param from Where it begins, in characters.
 * @param max  Characters that it has at most.
 */
export async function readTextPart(
  { body }: Response,
  from: number,
  max: number,
): Promise<TextPart> {
  if (!body) return { text: "", next: undefined };
  const end = from + max;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let [text, position] = ["", 0];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return { text, next: undefined };
    const start = position;
    position += value.length;
    if (position > BYTES_MAX) {
      await reader.cancel();
      throw tooLarge("the text is too long to be read by a tool");
    }
    if (position <= from) continue;
    text += value.slice(Math.max(0, from - start), end - start);
    if (position > end) break;
  }
  await reader.cancel();
  const lineEnd = text.lastIndexOf("\n") + 1;
  const shown = lineEnd > 0 ? text.slice(0, lineEnd) : text;
  return { text: shown, next: from + shown.length };
}
