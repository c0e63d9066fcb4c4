import type { MarkedExtension } from "marked";
import { escapeHtml, formatAttributes } from "./html.ts";

const COLOR = /^(?:#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})|(?:rgb|hsl)a?\([\d.,%/\s-]{1,60}\))$/i;

/** Inline code. If it consists of a colour, a preview of the colour is added. */
export const codeSpans: MarkedExtension = {
  renderer: {
    codespan({ text }) {
      const style = `background-color: ${text}`;
      const preview = COLOR.test(text)
        ? `<span${formatAttributes({ class: "color-preview", style })}></span>`
        : "";
      return `<code>${escapeHtml(text)}${preview}</code>`;
    },
  },
};
