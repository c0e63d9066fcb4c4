/**
 * Whether an `If-None-Match` condition matches the current entity tag. Uses weak comparison, so a
 * weak tag matches a strong one with the same value.
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
