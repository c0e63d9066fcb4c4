import type { ByteText } from "../byte-text.ts";

/** One variable of a configuration file. */
interface Setting {
  readonly section: string;
  /** The subsection: the quoted part of the section header, or what follows a dot in it. */
  readonly name: string | undefined;
  readonly key: string;
  /** Undefined for a variable without `=`. */
  readonly value: string | undefined;
}

/**
 * Parses a configuration file up to the first syntax error. Linear in the length of the text.
 *
 * SECURITY: reads exactly what git's reader reads, and stops at no line that git accepts: what this
 * parser does not see, `checkGitmodules` does not check.
 *
 * @returns `isComplete` is false if there is a syntax error.
 * @see git-config(1), "Syntax".
 */
export function parseSettings(file: ByteText): { settings: Setting[]; isComplete: boolean } {
  const text = file.replaceAll("\r\n", "\n");
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
    if (isSpace(char)) {
      at++;
    } else if (char === "#" || char === ";") {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end + 1;
    } else if (char === "[") {
      const header = /\[([A-Za-z0-9.-]*)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
      header.lastIndex = at;
      const match = header.exec(text);
      if (!match) return fault();
      const [whole, words = "", quoted] = match;
      if (words === "" && quoted === undefined) return fault();
      // `[submodule.a]` is an older form of `[submodule "a"]`, in lower case.
      const dot = words.indexOf(".");
      section = (dot < 0 ? words : words.slice(0, dot)).toLowerCase();
      const parts = dot < 0 ? [] : [words.slice(dot + 1).toLowerCase()];
      if (quoted !== undefined) parts.push(quoted.replaceAll(/\\([^])/g, "$1"));
      name = parts.length > 0 ? parts.join(".") : undefined;
      at += whole.length;
    } else {
      const keyword = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|\n|$)/y;
      keyword.lastIndex = at;
      const match = keyword.exec(text);
      if (!match) return fault();
      at = keyword.lastIndex;
      const key = (match[1] as string).toLowerCase();
      if (match[2] !== "=") {
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

/** True for the characters that git's reader skips; other blanks are syntax errors. */
const isSpace = (char: string): boolean =>
  char === " " || char === "\t" || char === "\n" || char === "\r";

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
    if (!isQuoted && isSpace(char)) {
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
      // At the end of the file, git's reader sees a line feed.
      if (escaped === "\n" || escaped === "") continue;
      const plain = ESCAPES[escaped];
      if (plain === undefined) return undefined;
      value += plain;
    } else {
      value += char;
    }
  }
  return isQuoted ? undefined : { value, next: at + 1 };
}
