/**
 * Adds a trailer to a commit message, unless the message has it: behind its last trailers, or as a
 * paragraph of its own.
 *
 * @param value One line.
 * @see git-interpret-trailers(1).
 */
export function addTrailer(message: string, key: string, value: string): string {
  const trailer = `${key}: ${value}`;
  const text = message.replaceAll(/\r\n?/g, "\n").trimEnd();
  const lines = text.split("\n");
  if (lines.includes(trailer)) return text;
  const last = lines.at(-1) ?? "";
  const isTrailer = lines.length > 1 && /^[A-Z][A-Za-z0-9-]*: \S/.test(last) && last.includes("-");
  return `${text}${isTrailer ? "\n" : "\n\n"}${trailer}`;
}
