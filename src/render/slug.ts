/** Stands before every id that comes from a text, so that no text can take an id of the page. */
export const ID_PREFIX = "user-content-";

/** The part of an id that names a heading or a footnote: `What is X?` → `what-is-x`. */
export function formatSlug(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}
