import type { MarkedExtension, Token } from "marked";
import { escapeHtml } from "./html.ts";
import type { KnownReferences } from "./references.ts";

/** HTML of the link, or undefined when the reference isn't known. */
type Format = (known: KnownReferences) => string | undefined;

/**
 * A place in the text that becomes a link once it is known what exists.
 *
 * @param text As written, without HTML in it.
 */
export function referenceToken(text: string, format: Format): Token {
  return { type: "reference", raw: text, format };
}

/** Renders those places as links, or as the text they were. */
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
