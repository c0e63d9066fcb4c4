import type { MarkedExtension, Token } from "marked";
import { formatAttributes } from "./html.ts";

const KINDS = ["note", "tip", "important", "warning", "caution"] as const;
type AlertKind = (typeof KINDS)[number];

const MARKER = new RegExp(`^\\[!(${KINDS.join("|")})\\][ \\t]*(?:\\n|$)`, "i");

/** Icon outlines in a 16 by 16 view box. */
const CIRCLE = "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Z";
const TRIANGLE = "M8 1.5 15 14H1Z";
const ICONS: Readonly<Record<AlertKind, string>> = {
  note: `${CIRCLE}M8 7v5M8 4v1`,
  tip: "M6 11h4M6.5 13.5h3M8 1.5a4.5 4.5 0 0 0-2.5 8.2V11h5V9.7A4.5 4.5 0 0 0 8 1.5Z",
  important: "M1.5 2h13v9H8l-3 3v-3H1.5ZM8 4v3M8 8.5v1",
  warning: `${TRIANGLE}M8 6v4M8 11.5v1`,
  caution: `${CIRCLE}M8 4v5M8 11v1`,
};

/** Block quotes that start with a marker such as `[!NOTE]`. */
export const alerts: MarkedExtension = {
  renderer: {
    blockquote({ tokens }) {
      const kind = takeMarker(tokens);
      const content = this.parser.parse(tokens);
      if (!kind) return `<blockquote>\n${content}</blockquote>\n`;
      const attributes = formatAttributes({ class: `attention-header attention-${kind}` });
      return `<blockquote${attributes}>${formatTitle(kind)}\n${content}</blockquote>\n`;
    },
  },
};

/** Removes the marker at the start of a quote, and returns its kind. */
function takeMarker(tokens: Token[]): AlertKind | undefined {
  const [paragraph] = tokens;
  if (paragraph?.type !== "paragraph" || !paragraph.tokens) return undefined;
  const [first, second] = paragraph.tokens;
  if (first?.type !== "text") return undefined;
  const match = MARKER.exec(first.text);
  // In a comment, the line break after the marker is a token of its own.
  const isLine = match?.[0].endsWith("\n") === true || !second || second.type === "br";
  if (!match || !isLine) return undefined;

  first.text = first.text.replace(MARKER, "");
  if (second?.type === "br" && first.text === "") paragraph.tokens.splice(1, 1);
  if (paragraph.tokens.length === 1 && first.text === "") tokens.shift();
  return KINDS.find((kind) => kind === match[1]?.toLowerCase());
}

function formatTitle(kind: AlertKind): string {
  const svg = formatAttributes({
    class: `attention-icon attention-${kind} svg`,
    viewbox: "0 0 16 16",
    width: "16",
    height: "16",
    fill: "none",
    "aria-hidden": "true",
  });
  const path = formatAttributes({ d: ICONS[kind], stroke: "currentColor", "stroke-width": "1.5" });
  const title = kind.slice(0, 1).toUpperCase() + kind.slice(1);
  const strong = formatAttributes({ class: `attention-${kind}` });
  return `<p><svg${svg}><path${path}></path></svg><strong${strong}>${title}</strong></p>`;
}
