import { decodeHTML } from "entities";
import type { MarkedExtension } from "marked";
import { formatAttributes } from "./html.ts";
import { formatSlug, ID_PREFIX } from "./slug.ts";

/** Headings with ids to link to; equal ones get `-1`, `-2` and so on. State for one document. */
export function headings(): MarkedExtension {
  const uses = new Map<string, number>();
  return {
    renderer: {
      heading({ tokens, depth }) {
        // Rendered once: a second time would count the uses of its footnotes twice.
        const content = this.parser.parseInline(tokens);
        const slug = formatSlug(readText(content)) || "heading";
        const earlier = uses.get(slug) ?? 0;
        uses.set(slug, earlier + 1);
        const id = ID_PREFIX + slug + (earlier > 0 ? `-${earlier}` : "");
        return `<h${depth}${formatAttributes({ id })}>${content}</h${depth}>\n`;
      },
    },
  };
}

/** What a heading says, without its tags and the numbers of its footnotes. */
function readText(html: string): string {
  const text = html.replaceAll(/<sup id="fnref[^>]*>.*?<\/sup>/g, "").replaceAll(/<[^<>]*>/g, "");
  return decodeHTML(text);
}
