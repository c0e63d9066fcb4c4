import { replace } from "./insert.ts";

/** Marks around a selection, by the format. */
const AROUND: Readonly<Record<string, readonly [before: string, after: string]>> = {
  bold: ["**", "**"],
  italic: ["_", "_"],
  code: ["`", "`"],
};

/** Marks before each line of a selection; that of numbers counts. */
const BEFORE: Readonly<Record<string, { mark: (at: number) => string; pattern: RegExp }>> = {
  heading: { mark: () => "### ", pattern: /^#{1,6} / },
  quote: { mark: () => "> ", pattern: /^> / },
  list: { mark: () => "- ", pattern: /^- (?!\[[ x]\] )/ },
  numbers: { mark: (at) => `${at + 1}. `, pattern: /^\d+\. / },
  tasks: { mark: () => "- [ ] ", pattern: /^- \[[ x]\] / },
};

const KEYS: Readonly<Record<string, string>> = { b: "bold", i: "italic", k: "link" };

/** Makes the tool bar of a field work, by pointer and by keys. */
export function formatOnDemand(field: HTMLElement, area: HTMLTextAreaElement): void {
  const tools = [...field.querySelectorAll<HTMLButtonElement>("[data-format]")];
  // A tool bar is one stop of the Tab key; arrows lead through it.
  const focusable = (tool: HTMLButtonElement): void => {
    for (const each of tools) each.tabIndex = each === tool ? 0 : -1;
  };
  if (tools[0]) focusable(tools[0]);
  for (const [at, tool] of tools.entries()) {
    tool.addEventListener("click", () => format(area, tool.dataset["format"] ?? ""));
    tool.addEventListener("keydown", (event) => {
      const last = tools.length - 1;
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
      const target = next === undefined ? undefined : tools[(next + tools.length) % tools.length];
      if (!target) return;
      event.preventDefault();
      focusable(target);
      target.focus();
    });
  }
  area.addEventListener("keydown", (event) => {
    const named = KEYS[event.key.toLowerCase()];
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || !named) return;
    event.preventDefault();
    format(area, named);
  });
}

function format(area: HTMLTextAreaElement, name: string): void {
  const [around, before] = [AROUND[name], BEFORE[name]];
  if (around) surround(area, ...around);
  else if (before) markLines(area, before.mark, before.pattern);
  else if (name === "link") link(area);
}

/** Puts marks around the selection, or takes them away. */
function surround(area: HTMLTextAreaElement, before: string, after: string): void {
  const { selectionStart: start, selectionEnd: end, value } = area;
  const text = value.slice(start, end);
  const isMarked =
    value.slice(0, start).endsWith(before) && value.slice(end).startsWith(after) && text !== "";
  if (isMarked) {
    replace(area, start - before.length, end + after.length, text, [0, text.length]);
  } else {
    const inside = [before.length, before.length + text.length] as const;
    replace(area, start, end, before + text + after, inside);
  }
}

/** Puts a mark before each line of the selection, or takes it away where all have one. */
function markLines(area: HTMLTextAreaElement, mark: (at: number) => string, pattern: RegExp): void {
  const { value } = area;
  const start = value.lastIndexOf("\n", area.selectionStart - 1) + 1;
  const lineEnd = value.indexOf("\n", area.selectionEnd);
  const end = lineEnd < 0 ? value.length : lineEnd;
  const lines = value.slice(start, end).split("\n");
  const areMarked = lines.every((line) => pattern.test(line));
  const text = lines
    .map((line, at) => (areMarked ? line.replace(pattern, "") : mark(at) + line))
    .join("\n");
  const caret = [text.length, text.length] as const;
  replace(area, start, end, text, lines.length === 1 ? caret : [0, text.length]);
}

/** Makes the selection a link: the text of one, or its address where it is one. */
function link(area: HTMLTextAreaElement): void {
  const { selectionStart: start, selectionEnd: end, value } = area;
  const text = value.slice(start, end);
  if (/^https?:\/\/\S+$/.test(text)) {
    replace(area, start, end, `[](${text})`, [1, 1]);
  } else {
    const at = text.length + "[](".length;
    replace(area, start, end, `[${text}](url)`, [at, at + "url".length]);
  }
}
