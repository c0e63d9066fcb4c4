import type { ByteText } from "../byte-text.ts";

/** One variable of a configuration file. */
interface Setting {
  readonly section: string;
  /** The subsection: the quoted part of the section header. */
  readonly name: string | undefined;
  readonly key: string;
  /** Undefined for a variable without `=`. */
  readonly value: string | undefined;
}

/**
 * Parses a configuration file up to the first syntax error. Linear in the length of the text.
 *
 * @returns `isComplete` is false if there is a syntax error.
 * @see git-config(1), "Syntax".
 */
export function parseSettings(text: ByteText): { settings: Setting[]; isComplete: boolean } {
  const settings: Setting[] = [];
  let section = "";
  let name: string | undefined;
  let at = text.startsWith("\xef\xbb\xbf") ? 3 : 0;
  const fault = (): { settings: Setting[]; isComplete: boolean } => ({
    settings,
    isComplete: false,
  });

  while (at < text.length) {
    const char = text.charAt(at);
    if (/\s/.test(char)) {
      at++;
    } else if (char === "#" || char === ";") {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end + 1;
    } else if (char === "[") {
      const plain = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
      plain.lastIndex = at;
      const match = plain.exec(text);
      if (!match) return fault();
      section = (match[1] as string).toLowerCase();
      name = match[2]?.replaceAll(/\\(.)/g, "$1");
      at = plain.lastIndex;
    } else {
      const keyword = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=[ \t]*)?/y;
      keyword.lastIndex = at;
      const match = keyword.exec(text);
      if (!match || section === "") return fault();
      at = keyword.lastIndex;
      const key = (match[1] as string).toLowerCase();
      if (match[2] === undefined) {
        if (at < text.length && !/[\n\r#;]/.test(text.charAt(at))) return fault();
        settings.push({ section, name, key, value: undefined });
        continue;
      }
      const read = parseValue(text, at);
      if (!read) return fault();
      settings.push({ section, name, key, value: read.value });
      at = read.next;
    }
  }
  return { settings, isComplete: true };
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  b: "\b",
  '"': '"',
  "\\": "\\",
};

function parseValue(text: string, start: number): { value: string; next: number } | undefined {
  let value = "";
  let spaces = "";
  let isQuoted = false;
  let at = start;
  for (; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\n") break;
    if (!isQuoted && (char === "#" || char === ";")) {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
      break;
    }
    if (!isQuoted && /\s/.test(char)) {
      if (value !== "") spaces += char;
      continue;
    }
    value += spaces;
    spaces = "";
    if (char === '"') {
      isQuoted = !isQuoted;
    } else if (char === "\\") {
      at++;
      const escaped = text.charAt(at);
      if (escaped === "\n") continue;
      const plain = ESCAPES[escaped];
      if (plain === undefined) return undefined;
      value += plain;
    } else {
      value += char;
    }
  }
  return isQuoted ? undefined : { value, next: at + 1 };
}
