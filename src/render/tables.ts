import type { MarkedExtension } from "marked";
import { formatAttributes } from "./html.ts";

/** Cells with their alignment as a style, where the library writes an attribute HTML no longer has. */
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
