import type { MarkedExtension, Token, Tokens } from "marked";
import { escapeHtml, formatAttributes } from "./html.ts";
import { formatSlug, ID_PREFIX } from "./slug.ts";

interface Footnote extends Tokens.Generic {
  type: "footnote";
  tokens: Token[];
  id: string;
  /** Position in the list at the end; 0 until the first reference. */
  number: number;
  referenceCount: number;
}

const DEFINITION = /^ {0,3}\[\^([^\]\s]{1,100})\]:[ \t]*([^\n]*)(?:\n|$)/;
const REFERENCE = /^\[\^([^\]\s]{1,100})\]/;
/** A line that starts a new block, and so continues a footnote only if it is indented. */
const NEW_BLOCK = /^ {0,3}(?:\[\^|#{1,6}\s|>|[-*+]\s|\d{1,9}[.)]\s|`{3}|~{3}|<|\||[-*_]{3})/;

/**
 * Footnotes: `[^label]` and `[^label]: text`, numbered in the order of first use. Holds the state
 * of one document.
 *
 * @param suffix Added to ids, so that the ids of several texts on one page differ; may be empty.
 */
export function footnotes(suffix: string): MarkedExtension {
  const defined = new Map<string, Footnote>();
  const used: Footnote[] = [];
  let isWithinFootnote = false;
  const ending = suffix === "" ? "" : `-${suffix}`;

  return {
    extensions: [
      {
        name: "footnote",
        level: "block",
        tokenizer(source) {
          // A definition inside a footnote is text, which also bounds the nesting.
          const match = isWithinFootnote ? null : DEFINITION.exec(source);
          if (!match) return undefined;
          const [head, label = "", firstLine = ""] = match;
          const body = readBody(source, head.length);
          isWithinFootnote = true;
          const tokens = this.lexer.blockTokens(`${firstLine}\n${body.text}`, []);
          isWithinFootnote = false;
          const footnote: Footnote = {
            type: "footnote",
            raw: source.slice(0, body.end),
            tokens,
            id: formatSlug(label) || String(defined.size + 1),
            number: 0,
            referenceCount: 0,
          };
          if (!defined.has(label)) defined.set(label, footnote);
          return footnote;
        },
        // Definitions are rendered by `footnoteList`.
        renderer: () => "",
      },
      {
        name: "footnoteReference",
        level: "inline",
        tokenizer(source) {
          const [raw, label = ""] = REFERENCE.exec(source) ?? [];
          // All blocks are read before the first inline token, so later definitions are known.
          const footnote = defined.get(label);
          return raw && footnote ? { type: "footnoteReference", raw, footnote } : undefined;
        },
        renderer(token) {
          const footnote: Footnote = token["footnote"];
          if (footnote.number === 0) footnote.number = used.push(footnote);
          footnote.referenceCount += 1;
          const id = formatReferenceId(footnote.id, footnote.referenceCount) + ending;
          const href = `#fn:${ID_PREFIX}${footnote.id}${ending}`;
          return `<sup${formatAttributes({ id })}><a${formatAttributes({ href })}>${footnote.number} </a></sup>`;
        },
      },
      {
        name: "footnoteList",
        renderer() {
          let items = "";
          // Rendering a footnote may append another one to the list, by its first reference.
          for (const footnote of used) {
            const content = this.parser.parse(footnote.tokens).trimEnd();
            const id = `fn:${ID_PREFIX}${footnote.id}${ending}`;
            items += `<li${formatAttributes({ id })}>\n${addBackLinks(content, footnote)}\n</li>\n`;
          }
          return items === "" ? "" : `<div>\n<hr>\n<ol>\n${items}</ol>\n</div>\n`;
        },
      },
    ],
  };

  function addBackLinks(content: string, footnote: Footnote): string {
    let backLinks = "";
    for (let use = 1; use <= footnote.referenceCount; use += 1) {
      const href = `#${formatReferenceId(footnote.id, use)}${ending}`;
      backLinks += ` <a${formatAttributes({ href })}>↩︎</a>`;
    }
    return content.endsWith("</p>")
      ? `${content.slice(0, -"</p>".length)}${backLinks}</p>`
      : content + backLinks;
  }
}

/** The list of footnotes: the last token of the document, rendered last. */
export const footnoteList: Token = { type: "footnoteList", raw: "" };

function formatReferenceId(id: string, use: number): string {
  return `fnref${use > 1 ? use - 1 : ""}:${ID_PREFIX}${escapeHtml(id)}`;
}

/** The lines of a footnote after its first line, without their indent. */
function readBody(source: string, start: number): { text: string; end: number } {
  let text = "";
  let end = start;
  let blank = "";
  for (let next = start; next < source.length;) {
    const lineEnd = source.indexOf("\n", next);
    const after = lineEnd === -1 ? source.length : lineEnd + 1;
    const line = source.slice(next, after);
    next = after;
    if (line.trim() === "") {
      blank += "\n";
      continue;
    }
    const isIndented = /^(?: {4}|\t)/.test(line);
    if (!isIndented && (blank !== "" || NEW_BLOCK.test(line))) break;
    text += blank + line.replace(/^(?: {4}|\t)/, "");
    blank = "";
    end = next;
  }
  return { text, end };
}
