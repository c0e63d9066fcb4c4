import { escapeHtml } from "./html.ts";

/** What a row of a log is, by the command with which it begins. */
interface LogLine {
  readonly kind: "text" | "error" | "warning" | "notice" | "debug" | "command" | "group" | "end";
  readonly text: string;
}

const COMMAND = /^(?:##\[([a-z]+)\]|::([a-z]+)(?: [^]*?)?::)([^]*)$/;

const KINDS: ReadonlyMap<string, LogLine["kind"]> = new Map([
  ["error", "error"],
  ["warning", "warning"],
  ["notice", "notice"],
  ["debug", "debug"],
  ["command", "command"],
  ["section", "command"],
  ["group", "group"],
  ["endgroup", "end"],
]);

const ESCAPED: Readonly<Record<string, string>> = { "%0A": "\n", "%0D": "", "%25": "%" };

/**
 * Reads a row of a log: `##[error]text` and `::error file=a.ts,line=1::text` are commands, and
 * anything else a text.
 *
 * @see https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
 */
export function readLogLine(row: string): LogLine {
  const [, old, name = old ?? "", text = ""] = COMMAND.exec(row) ?? [];
  const kind = KINDS.get(name);
  if (kind === undefined) return { kind: "text", text: row };
  const isOld = old !== undefined;
  return {
    kind,
    text: isOld ? text : text.replace(/%(?:0A|0D|25)/g, (code) => ESCAPED[code] ?? ""),
  };
}

// oxlint-disable-next-line no-control-regex -- terminals are told by control characters.
const SEQUENCE = /\u001B(?:\[([0-?]*)[ -/]*([@-~])?|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|.?)/gs;

/** Attributes of a text on a terminal, by the numbers that set them. */
interface Attributes {
  color: number | undefined;
  back: number | undefined;
  readonly flags: Set<number>;
}

/** The numbers that end attributes, with those that they end. */
const ENDS: Readonly<Record<number, readonly number[]>> = { 22: [1, 2], 23: [3], 24: [4], 29: [9] };

/**
 * A text for a terminal as HTML: colors and the like become classes, `t1` for bold and `t31` for
 * red, and other sequences are left out.
 *
 * SECURITY: everything of the text is escaped.
 */
export function toTerminalHtml(text: string): string {
  if (!text.includes("\u001B")) return escapeHtml(text);
  const current: Attributes = { color: undefined, back: undefined, flags: new Set() };
  let html = "";
  let at = 0;
  const write = (part: string): void => {
    if (part === "") return;
    const names = [...current.flags, current.color, current.back]
      .filter((each) => each !== undefined)
      .map((each) => `t${each}`);
    const escaped = escapeHtml(part);
    html += names.length === 0 ? escaped : `<span class="${names.join(" ")}">${escaped}</span>`;
  };
  for (const match of text.matchAll(SEQUENCE)) {
    write(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") setAttributes(current, match[1] ?? "");
  }
  write(text.slice(at));
  return html;
}

function setAttributes(current: Attributes, parameters: string): void {
  const codes = parameters.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      // One of 256 colors, or three parts of one: the first sixteen have classes.
      const isPalette = codes[at + 1] === 5;
      const color = codes[at + 2] ?? -1;
      const base = code === 38 ? 30 : 40;
      const shown =
        isPalette && color >= 0 && color < 16
          ? color < 8
            ? base + color
            : base + 52 + color
          : undefined;
      if (code === 38) current.color = shown;
      else current.back = shown;
      at += isPalette ? 2 : 4;
    } else if (code === 0) {
      current.color = current.back = undefined;
      current.flags.clear();
    } else if (isIn(code, 30, 37) || isIn(code, 90, 97)) current.color = code;
    else if (isIn(code, 40, 47) || isIn(code, 100, 107)) current.back = code;
    else if (code === 39) current.color = undefined;
    else if (code === 49) current.back = undefined;
    else if ([1, 2, 3, 4, 9].includes(code)) current.flags.add(code);
    else for (const ended of ENDS[code] ?? []) current.flags.delete(ended);
  }
}

const isIn = (code: number, least: number, most: number): boolean => code >= least && code <= most;
