import type { MarkedExtension } from "marked";
import { formatAttributes } from "./html.ts";

/**
 * Table cells with their alignment as a style. The library writes the obsolete `align` attribute
 * instead.
 */
export const tables: MarkedExtension = {
  renderer: {
    tablecell({ header, align, tokens }) {
      const element = header ? "th" : "td";
      const style = align ? `text-align:${align}` : undefined;
      const content = this.parser.parseInline(tokens);
      return `<${element}${formatAttributes({ style })}>${content}</${element}>\n`;
    },
  },
};
