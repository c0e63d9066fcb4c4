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
        const text = decodeHTML(this.parser.parseInline(tokens, this.parser.textRenderer));
        const slug = formatSlug(text.replaceAll(/<[^<>]*>/g, "")) || "heading";
        const earlier = uses.get(slug) ?? 0;
        uses.set(slug, earlier + 1);
        const id = ID_PREFIX + slug + (earlier > 0 ? `-${earlier}` : "");
        const content = this.parser.parseInline(tokens);
        return `<h${depth}${formatAttributes({ id })}>${content}</h${depth}>\n`;
      },
    },
  };
}
