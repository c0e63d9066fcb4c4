import type { MarkedExtension, Token } from "marked";
import { formatAttributes } from "./html.ts";

/** List items with boxes; `findBoxes` says where each stands in the source. */
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

/** What may stand between the end of one line and a box: quote signs, list markers, spaces. */
const BOX = /(?:[\s>]|[-*+]|\d{1,9}[.)]){0,400}(\[[ xX]\])/y;

/**
 * Where each box stands in the source: the offset of its `[` in bytes, so that a click can change
 * the text. The lexer keeps no positions, so this follows the text of the blocks through the source.
 * A box that isn't found is left out rather than guessed at.
 *
 * @param tokens Every token of the document, in order.
 * @param source The text as it was given.
 * @param start  Where the first of the tokens may stand, in characters.
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

/** Blocks without blocks in them: their lines follow each other in the source. */
function isFollowed(token: Token): boolean {
  if (token.type === "html") return "block" in token && token["block"] === true;
  // Inline text has the same type as the text of a list item.
  if (token.type === "text") return "tokens" in token && token.tokens !== undefined;
  return FOLLOWED.has(token.type);
}

/** How far ahead a line may stand; a bound on the work for lines that the lexer has changed. */
const LINE_AHEAD_MAX = 1000;

function skipLine(source: string, cursor: number, line: string): number {
  if (line === "") return cursor;
  const ahead = source.slice(cursor, cursor + line.length + LINE_AHEAD_MAX);
  const index = ahead.indexOf(line);
  return index === -1 ? cursor : cursor + index + line.length;
}

/** Offsets in UTF-8 of growing offsets in characters. */
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
