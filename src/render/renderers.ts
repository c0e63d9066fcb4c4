import { renderCsv } from "./csv.ts";
import { renderMarkdown } from "./markdown.ts";
import type { MarkupOptions } from "./markup-options.ts";
import type { RenderBudget } from "./render-budget.ts";
import { renderPlainText } from "./plain-text.ts";

/** Renders the text of a file as sanitized HTML. */
export type Renderer = (
  source: string,
  options: MarkupOptions,
  budget: RenderBudget,
) => Promise<string>;

interface Registration {
  /** File name extensions, in lower case, with the dot. */
  extensions: readonly string[];
  render: Renderer;
}

const REGISTRATIONS: readonly Registration[] = [
  { extensions: [".md", ".markdown", ".mdown", ".mkd", ".livemd"], render: renderMarkdown },
  { extensions: [".csv", ".tsv"], render: renderCsv },
  { extensions: [".txt"], render: renderPlainText },
];

/** Names of text files without an extension. */
const PROSE =
  /^(?:readme|licen[cs]e|copying|authors|contributors|changelog|changes|news|notice|todo)$/;

/** Returns the renderer for a file by its name; undefined if there is none. */
export function findRenderer(filePath: string): Renderer | undefined {
  const name = filePath.slice(filePath.lastIndexOf("/") + 1).toLowerCase();
  if (PROSE.test(name)) return renderPlainText;
  const registration = REGISTRATIONS.find(({ extensions }) =>
    extensions.some((extension) => name.endsWith(extension)),
  );
  return registration?.render;
}
