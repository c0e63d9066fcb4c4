import type { MarkedExtension, Token } from "marked";
import { escapeHtml } from "./html.ts";
import type { KnownReferences } from "./references.ts";

/** Returns the HTML of the link, or undefined if the reference does not exist. */
type Format = (known: KnownReferences) => string | undefined;

/**
 * A token for a possible reference, which is rendered as a link if the reference exists.
 *
 * @param text The source text, without HTML.
 */
export function referenceToken(text: string, format: Format): Token {
  return { type: "reference", raw: text, format };
}

/** Renders reference tokens as links, or as text if the reference does not exist. */
export function knownReferences(known: KnownReferences): MarkedExtension {
  return {
    extensions: [
      {
        name: "reference",
        renderer(token) {
          const format: Format = token["format"];
          return format(known) ?? escapeHtml(token.raw);
        },
      },
    ],
  };
}
