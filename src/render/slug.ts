/** Prefix of every id that comes from a text, so that it cannot clash with an id of the page. */
export const ID_PREFIX = "user-content-";

/** Formats the id of a heading or footnote, without the prefix: `What is X?` → `what-is-x`. */
export function formatSlug(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}
