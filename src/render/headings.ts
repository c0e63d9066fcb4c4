import { decodeHTML } from "entities";
import type { MarkedExtension } from "marked";
import { formatAttributes } from "./html.ts";
import { formatSlug, ID_PREFIX } from "./slug.ts";

/** An id at the end of a heading, which replaces the one that its text makes. */
const OWN_ID = /\s*\{#([\w:.-]{1,100})\}$/;

/** Headings with ids; equal ones get `-1`, `-2` and so on. Holds the state of one document. */
export function headings(): MarkedExtension {
  const uses = new Map<string, number>();
  return {
    renderer: {
      heading({ tokens, depth }) {
        // Rendered only once: a second time would count the references to footnotes twice.
        const inline = this.parser.parseInline(tokens);
        const content = inline.replace(OWN_ID, "");
        const slug = OWN_ID.exec(inline)?.[1] ?? (formatSlug(readText(content)) || "heading");
        const earlier = uses.get(slug) ?? 0;
        uses.set(slug, earlier + 1);
        const id = ID_PREFIX + slug + (earlier > 0 ? `-${earlier}` : "");
        return `<h${depth}${formatAttributes({ id })}>${content}</h${depth}>\n`;
      },
    },
  };
}

/** The text of a heading, without tags and footnote numbers. */
function readText(html: string): string {
  const text = html.replaceAll(/<sup id="fnref[^>]*>.*?<\/sup>/g, "").replaceAll(/<[^<>]*>/g, "");
  return decodeHTML(text);
}
