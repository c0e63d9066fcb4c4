import type { ByteText } from "../byte-text.ts";

const SIGN_OFF = "Signed-off-by: ";

/** Prefixes of the trailers that git itself generates. */
const OWN_PREFIXES = [SIGN_OFF, "(cherry picked from commit "];

/**
 * Adds a `Signed-off-by` trailer to a message, as `git commit --signoff` does: to the trailer block
 * at the end, or after an empty line if there is none. Does nothing if the same sign-off is the
 * last trailer already.
 *
 * @param message Not empty, ends in a line feed.
 * @param person Name and address: `Ada <ada@example.com>`.
 * @see git-interpret-trailers(1)
 */
export function addSignOff(message: ByteText, person: ByteText): ByteText {
  const lines = splitLines(message);
  const lastText = lines.findLastIndex(({ text }) => !isComment(text) && text !== "\n");
  // Comment lines and empty lines at the end stay after the trailer; the first line is never
  // treated as a comment.
  const end = lines[Math.max(lastText, 0) + 1]?.start ?? message.length;
  return `${signOff(message.slice(0, end) as ByteText, person)}${message.slice(end)}` as ByteText;
}

function signOff(message: ByteText, person: ByteText): ByteText {
  const line = `${SIGN_OFF}${person}\n`;
  if (message === line) return message;
  const start = findTrailers(message);
  if (start === message.length) {
    return `${message}${message.endsWith("\n\n") ? "" : "\n"}${line}` as ByteText;
  }
  return (message.endsWith(`\n${line}`) ? message : message + line) as ByteText;
}

const isComment = (line: string): boolean => line.startsWith("#");
const isBlank = (line: string): boolean => /^[ \t\n\r]*$/.test(line);

/**
 * Returns the offset of the trailer block at the end of a message: the last paragraph, unless it is
 * also the first, if all its lines are trailers, or at least a quarter of them and one of git's
 * own. Returns the length of the message if there is no trailer block.
 */
function findTrailers(message: ByteText): number {
  const lines = splitLines(message);
  const titleEnd = lines.findIndex(({ text }) => !isComment(text) && isBlank(text));
  if (titleEnd < 0) return message.length;
  let [trailers, others, continuations] = [0, 0, 0];
  let isEnd = true;
  let hasOwn = false;
  for (let at = lines.length - 1; at >= titleEnd; at--) {
    const { text } = lines[at] as Line;
    if (isComment(text)) {
      others += continuations;
      continuations = 0;
    } else if (isBlank(text)) {
      if (isEnd) continue;
      others += continuations;
      const isBlock = (hasOwn && trailers * 3 >= others) || (trailers > 0 && others === 0);
      return isBlock ? (lines[at + 1]?.start ?? message.length) : message.length;
    } else {
      isEnd = false;
      const isOwn = OWN_PREFIXES.some((prefix) => text.startsWith(prefix));
      hasOwn ||= isOwn;
      const isIndented = /^[ \t\r]/.test(text);
      if (isOwn || (!isIndented && /^[0-9A-Za-z-]+[ \t]*:/.test(text))) {
        trailers++;
        continuations = 0;
      } else if (isIndented) {
        continuations++;
      } else {
        others += 1 + continuations;
        continuations = 0;
      }
    }
  }
  return message.length;
}

interface Line {
  readonly text: string;
  readonly start: number;
}

function splitLines(message: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < message.length;) {
    const end = message.indexOf("\n", start) + 1 || message.length;
    lines.push({ text: message.slice(start, end), start });
    start = end;
  }
  return lines;
}
