import type { ShortPattern } from "../../../render/linear-pattern.ts";

/**
 * A pattern of a cleanup rule, in the syntax of RE2. It matches a text as a whole, in any case, as
 * in Gitea.
 *
 * @returns Undefined for a text that is no pattern, or one that takes too much work.
 */
export async function openVersionPattern(source: string): Promise<ShortPattern | undefined> {
  const { openShortPattern } = await import("../../../render/linear-pattern.ts");
  // By itself first: brackets that do not match would take effect outside of the group.
  return openShortPattern(source) && openShortPattern(`(?i)\\A(?:${source})\\z`);
}
