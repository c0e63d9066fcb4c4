import { gemoji } from "gemoji";
import { formatAttributes } from "./html.ts";
import type { TextRule } from "./text-rules.ts";
import { generated } from "./token-tree.ts";

const byName = new Map(
  gemoji.flatMap((entry) => entry.names.map((name) => [name, entry] as const)),
);

/** Replaces `:gem:` by 💎, with its description as the label for screen readers. */
export const emoji: TextRule = {
  pattern: /:([a-z\d_+-]{1,60}):/g,
  isForLinks: true,
  toToken(match) {
    const entry = byName.get(match[1] ?? "");
    if (!entry) return undefined;
    const attributes = { class: "emoji", "aria-label": entry.description };
    return generated(`<span${formatAttributes(attributes)}>${entry.emoji}</span>`);
  },
};
