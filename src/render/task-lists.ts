import type { MarkedExtension, Token } from "marked";
import { formatAttributes } from "./html.ts";

/**
 * List items with checkboxes.
 *
 * @param positions Source position of each checkbox, from `findBoxes`.
 */
export function taskLists(positions: ReadonlyMap<Token, number>): MarkedExtension {
  return {
    renderer: {
      listitem({ task, tokens }) {
        const attributes = formatAttributes({ class: task ? "task-list-item" : undefined });
        return `<li${attributes}>${this.parser.parse(tokens)}</li>\n`;
      },
      checkbox(token) {
        const attributes = formatAttributes({
          type: "checkbox",
          disabled: "",
          "data-source-position": positions.get(token)?.toString(),
          checked: token.checked ? "" : undefined,
        });
        return `<input${attributes}>`;
      },
    },
  };
}

/** A checkbox, after the quote signs, list markers and spaces that may precede it. */
const BOX = /(?:[\s>]|[-*+]|\d{1,9}[.)]){0,400}(\[[ xX]\])/y;

/**
 * Finds the position of each checkbox in the source, as the offset of its `[` in bytes, so that a
 * click can edit the text. The lexer keeps no positions, so this searches the source for the text
 * of each block. A checkbox that is not found is omitted.
 *
 * @param tokens Every token of the document, in order.
 * @param source The full text, including front matter.
 * @param start  Start of the search, in characters.
 */
export function findBoxes(
  tokens: readonly Token[],
  source: string,
  start: number,
): ReadonlyMap<Token, number> {
  const positions = new Map<Token, number>();
  if (!tokens.some((token) => token.type === "checkbox")) return positions;
  const bytes = new ByteCounter(source);
  let cursor = start;

  function findBox(box: Token): void {
    if (positions.has(box)) return;
    BOX.lastIndex = cursor;
    const match = BOX.exec(source);
    if (!match) return;
    cursor += match[0].length;
    positions.set(box, bytes.at(cursor - "[ ]".length));
  }

  for (const token of tokens) {
    if (token.type === "checkbox") {
      findBox(token);
      continue;
    }
    if (!isFollowed(token)) continue;
    let { raw } = token;
    const [first] = "tokens" in token && token.tokens ? token.tokens : [];
    if (first?.type === "checkbox") {
      findBox(first);
      raw = raw.slice(first.raw.length);
    }
    for (const line of raw.split("\n")) cursor = skipLine(source, cursor, line.trim());
  }
  return positions;
}

const FOLLOWED = new Set(["code", "heading", "paragraph", "table", "def", "mathBlock"]);

/** True for blocks without nested blocks: their lines are consecutive in the source. */
function isFollowed(token: Token): boolean {
  if (token.type === "html") return "block" in token && token["block"] === true;
  // Inline text has the same type as the text of a list item.
  if (token.type === "text") return "tokens" in token && token.tokens !== undefined;
  return FOLLOWED.has(token.type);
}

/**
 * Maximum distance to a line, in characters. Bounds the search for lines that the lexer has
 * changed.
 */
const LINE_AHEAD_MAX = 1000;

function skipLine(source: string, cursor: number, line: string): number {
  if (line === "") return cursor;
  const ahead = source.slice(cursor, cursor + line.length + LINE_AHEAD_MAX);
  const index = ahead.indexOf(line);
  return index === -1 ? cursor : cursor + index + line.length;
}

/** Converts ascending offsets in characters to offsets in UTF-8 bytes. */
class ByteCounter {
  readonly #source: string;
  #characters = 0;
  #bytes = 0;

  constructor(source: string) {
    this.#source = source;
  }

  at(characters: number): number {
    this.#bytes += encoder.encode(this.#source.slice(this.#characters, characters)).length;
    this.#characters = characters;
    return this.#bytes;
  }
}

const encoder = new TextEncoder();
