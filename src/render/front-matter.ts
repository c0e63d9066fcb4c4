import { isMap, isScalar, isSeq, type Node } from "yaml";

import { parseYaml } from "../lib/yaml.ts";
import { escapeHtml } from "./html.ts";

const FRONT_MATTER = /^---[ \t]*\r?\n/;
const END = /^(?:---|\.\.\.)[ \t]*$/m;
/** Longer front matter is rendered as part of the text. */
const LENGTH_MAX = 32 * 1024;

/**
 * Renders the YAML front matter between `---` lines as a collapsed table.
 *
 * @returns The HTML and the end of the front matter in characters; undefined if there is none, or
 * if it is not a mapping.
 */
export async function readFrontMatter(
  source: string,
): Promise<{ html: string; end: number } | undefined> {
  const start = FRONT_MATTER.exec(source)?.[0].length;
  if (start === undefined) return undefined;
  const rest = source.slice(start, start + LENGTH_MAX);
  const end = END.exec(rest);
  if (!end) return undefined;

  // The failsafe schema keeps all values as strings, so dates and numbers are shown as written.
  // Aliases are not expanded, so a small text cannot grow.
  const documents = await parseYaml(rest.slice(0, end.index), "failsafe");
  const [document] = documents;
  const isValid = document && documents.length === 1 && document.errors.length === 0;
  if (!isValid || !isMap<Node, Node | null>(document.contents)) return undefined;
  const table = formatValue(document.contents, 0);
  return {
    html: `<details class="frontmatter-content"><summary>Front matter</summary>${table}</details>\n`,
    end: start + end.index + end[0].length,
  };
}

/** Deeper values are omitted. */
const DEPTH_MAX = 8;

function formatValue(node: Node | null, depth: number): string {
  if (isScalar(node)) return escapeHtml(typeof node.value === "string" ? node.value : "");
  if (depth >= DEPTH_MAX) return "…";
  if (isMap<Node, Node | null>(node)) {
    const names = node.items.map((item) => `<th>${formatValue(item.key, depth + 1)}</th>`);
    const values = node.items.map((item) => `<td>${formatValue(item.value, depth + 1)}</td>`);
    return (
      `<table><thead><tr>${names.join("")}</tr></thead>` +
      `<tbody><tr>${values.join("")}</tr></tbody></table>`
    );
  }
  if (isSeq<Node | null>(node)) {
    const cells = node.items.map((item) => `<td>${formatValue(item, depth + 1)}</td>`);
    return `<table><tbody><tr>${cells.join("")}</tr></tbody></table>`;
  }
  return node ? escapeHtml(String(node)) : "";
}
