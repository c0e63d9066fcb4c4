import { pause } from "./time-slice.ts";

/** Longer texts are parsed here, and shorter ones by the platform, which takes up to 20 ms. */
const WHOLE_CHARS_MAX = 256 * 1024;
/**
 * Maximum depth of a text: what is read is written again by functions that recurse, and SQLite
 * reads no JSON deeper than 1,000.
 */
const DEPTH_MAX = 200;
/** Maximum values of a text: an object takes some 60 bytes in memory and two in the text. */
const VALUES_MAX = 500_000;
/** Steps to parse a value, and a character of a string. */
const VALUE_STEPS = 150;
const CHAR_STEPS = 0.5;

/**
 * `JSON.parse` for texts of any length: other requests run meanwhile.
 *
 * @throws SyntaxError for anything else than JSON, and for a text that is nested deeper than 200
 *   levels, or has more than 500,000 values.
 */
export async function parseJson(text: string): Promise<unknown> {
  if (text.length > WHOLE_CHARS_MAX) return new JsonReader(text).read();
  if (measureJson(text).depth > DEPTH_MAX) throw notJson();
  const value = JSON.parse(text) as unknown;
  await pause(CHAR_STEPS * text.length);
  return value;
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The depth of a text's brackets, and how many brackets that close, commas and colons it has.
 *
 * SECURITY: scans character by character. A regular expression would backtrack at each escape of a
 * string, and take quadratic time for an unterminated string.
 */
export function measureJson(text: string): { readonly depth: number; readonly marks: number } {
  let depth = 0;
  let deepest = 0;
  let marks = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (isInText && char === BACKSLASH) at++;
    else if (char === QUOTE) isInText = !isInText;
    else if (isInText) continue;
    else if (char === COMMA || char === COLON) marks++;
    else if (char === OPEN_BRACKET || char === OPEN_BRACE) deepest = Math.max(deepest, ++depth);
    else if (char === CLOSE_BRACKET || char === CLOSE_BRACE) {
      depth--;
      marks++;
    }
  }
  return { depth: deepest, marks };
}

/** A list, or an object with the key of its next value. */
type Open =
  | { readonly list: unknown[] }
  | { readonly object: Record<string, unknown>; key: string };

/**
 * Reads a text value by value. A list of the containers that are open takes the place of
 * recursion.
 */
class JsonReader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  async read(): Promise<unknown> {
    const open: Open[] = [];
    for (let count = 0; ; count++) {
      if (count > VALUES_MAX || open.length > DEPTH_MAX) throw notJson();
      const from = this.at;
      const opened = this.open();
      if (opened) {
        open.push(opened);
        continue;
      }
      const value = this.close(open, this.readScalar());
      if (open.length === 0) return value;
      const pausing = pause(VALUE_STEPS + CHAR_STEPS * (this.at - from));
      if (pausing) await pausing;
    }
  }

  /** Opens a container that is not empty. @returns Undefined where there is none. */
  private open(): Open | undefined {
    const { text } = this;
    this.skipSpace();
    const mark = text[this.at];
    const end = mark === "[" ? "]" : mark === "{" ? "}" : undefined;
    if (end === undefined) return undefined;
    const start = this.at++;
    this.skipSpace();
    if (text[this.at] !== end) {
      return mark === "[" ? { list: [] } : { object: {}, key: this.readKey() };
    }
    this.at = start;
    return undefined;
  }

  /** Reads a string, a number, a word, or an empty container. */
  private readScalar(): unknown {
    const { text } = this;
    const mark = text[this.at];
    if (mark === '"') return this.readString();
    if (mark === "[" || mark === "{") {
      this.at++;
      this.skipSpace();
      this.at++;
      return mark === "[" ? [] : {};
    }
    SCALAR.lastIndex = this.at;
    const [scalar] = SCALAR.exec(text) ?? [];
    if (scalar === undefined) throw notJson();
    this.at += scalar.length;
    return JSON.parse(scalar) as unknown;
  }

  /**
   * Puts a value into the innermost container, and closes those that end after it.
   *
   * @returns The last value closed.
   */
  private close(open: Open[], read: unknown): unknown {
    let value = read;
    for (let last = open.at(-1); last; last = open.at(-1)) {
      put(last, value);
      this.skipSpace();
      const next = this.text[this.at++];
      if (next === ",") {
        if ("key" in last) last.key = this.readKey();
        return value;
      }
      if (next !== ("key" in last ? "}" : "]")) throw notJson();
      open.pop();
      value = "key" in last ? last.object : last.list;
    }
    this.skipSpace();
    if (this.at !== this.text.length) throw notJson();
    return value;
  }

  private readKey(): string {
    this.skipSpace();
    if (this.text[this.at] !== '"') throw notJson();
    const key = this.readString();
    this.skipSpace();
    if (this.text[this.at++] !== ":") throw notJson();
    return key;
  }

  private readString(): string {
    const { text } = this;
    const start = this.at;
    for (let end = start; ;) {
      end = text.indexOf('"', end + 1);
      if (end < 0) throw notJson();
      let escapes = 0;
      while (text[end - 1 - escapes] === "\\") escapes++;
      if (escapes % 2 === 1) continue;
      this.at = end + 1;
      return JSON.parse(text.slice(start, this.at)) as string;
    }
  }

  private skipSpace(): void {
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    this.at = SPACE.lastIndex;
  }
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?\d[-+.\deE]*/y;

function put(container: Open, value: unknown): void {
  if ("list" in container) {
    container.list.push(value);
    return;
  }
  // SECURITY: an assignment would replace the object's prototype by this key.
  if (container.key === "__proto__") {
    Object.defineProperty(container.object, container.key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    container.object[container.key] = value;
  }
}

const notJson = (): SyntaxError => new SyntaxError("the text is not JSON, or too large or deep");
