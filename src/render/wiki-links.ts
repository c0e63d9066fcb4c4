import type { MarkedExtension } from "marked";
import { escapeHtml, formatAttributes } from "./html.ts";
import { formatImage, resolveLink } from "./links.ts";
import type { MarkupOptions } from "./markup-options.ts";

const WIKI_LINK = /^\[\[([^[\]\n|]{1,500})(?:\|([^[\]\n|]{1,500}))?\]\]/;
const IMAGE = /\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico)$/i;
const URL_SCHEME = /^[a-z][a-z\d+.-]*:/i;

/** Wiki links: `[[Page]]`, `[[Name|Link]]` and `[[images/x.png]]`. */
export function wikiLinks(options: MarkupOptions): MarkedExtension {
  return {
    extensions: [
      {
        name: "wikiLink",
        level: "inline",
        tokenizer(source) {
          const [raw, first = "", second] = WIKI_LINK.exec(source) ?? [];
          if (!raw) return undefined;
          return { type: "wikiLink", raw, text: first.trim(), target: (second ?? first).trim() };
        },
        renderer(token) {
          const text: string = token["text"];
          const target: string = token["target"];
          // Also on a page in a folder, their targets are below the root of the wiki.
          const root = URL_SCHEME.test(target) || target.startsWith("/") ? "" : "/";
          if (IMAGE.test(target)) {
            return formatImage({ href: root + target, alt: text, isInLink: false, options });
          }
          const page = URL_SCHEME.test(target) ? target : formatPage(root + target);
          const href = resolveLink(page, options);
          return `<a${formatAttributes({ href })}>${escapeHtml(text)}</a>`;
        },
      },
    ],
  };
}

/** Formats a page name for URLs, with dashes for spaces. */
function formatPage(name: string): string {
  return name.replaceAll(/\s+/g, "-").replaceAll("%", "%25").replaceAll("?", "%3F");
}
