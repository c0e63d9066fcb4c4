import type { TokenBinding } from "../../../auth/actor.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { parseWildmatch } from "../../../git/glob/wildmatch.ts";
import { invalidField } from "../../../lib/failure.ts";

/** The bindings of a token that are patterns. */
export type PatternBinding = Exclude<TokenBinding, "repositories">;

/** Maximum number of patterns of each kind. */
export const PATTERNS_MAX = 50;

/** The form of each kind of pattern: a pattern of another form would match nothing. */
const FORMS: Readonly<Record<PatternBinding, { form: RegExp; rule: string }>> = {
  refs: {
    form: /^refs\/./,
    rule: "must be full names of refs, such as refs/heads/main or refs/tags/v*",
  },
  paths: {
    form: /^[^/](?:.*[^/])?$/s,
    rule: "must be paths from the root of the repository, such as docs/** or *.md",
  },
  packages: {
    form: /^[^/]+\/[^/]+\/./,
    rule: "must be packages of the form owner/type/name, such as alice/npm/*",
  },
};

/**
 * Checks the patterns of a new token.
 *
 * @throws Failure `invalid` for a pattern that could match nothing, which is a mistake of who makes
 *   the token.
 */
export function checkPatterns(
  bindings: Readonly<Record<PatternBinding, readonly string[] | null>>,
): void {
  for (const [binding, { form, rule }] of Object.entries(FORMS)) {
    for (const pattern of bindings[binding as PatternBinding] ?? []) {
      const isPattern = parseWildmatch(encodeText(pattern)) !== undefined;
      if (isPattern && form.test(pattern)) continue;
      throw invalidField(binding, `${rule}, unlike ${JSON.stringify(pattern)}`);
    }
  }
}
