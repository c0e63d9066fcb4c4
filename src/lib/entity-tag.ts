/**
 * Whether a condition of reading (`If-None-Match`) names the tag of what is there. Weakly: what is
 * the same but for its form is the same.
 *
 * @param tag Without its quotes.
 * @see RFC 9110, section 13.1.2.
 */
export function hasTag(condition: string | undefined, tag: string): boolean {
  if (condition === undefined) return false;
  return condition
    .split(",")
    .some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === `"${tag}"`);
}
