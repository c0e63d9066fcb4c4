import { encodeText } from "../../../git/byte-text.ts";
import { findMisleading, isRefName } from "../../../git/ref-name.ts";
import { invalidField } from "../../../lib/failure.ts";

/** Characters of the name of a branch that is created here. */
export const BRANCH_CHARS_MAX = 100;

/** The rule for names of branches and tags, in messages. */
export const REF_NAME_RULE =
  "must be a name that git allows, no object id, without a leading dash and control characters";

/**
 * Validates a branch name by git's rules, and refuses a misleading one.
 *
 * @param field The field name in the error message.
 * @throws Failure `invalid` for an invalid name, or one over 100 characters.
 * @see git-check-ref-format(1)
 */
export function checkBranchName(name: string, field: string): void {
  if (name.length > BRANCH_CHARS_MAX) {
    throw invalidField(field, `must have at most ${BRANCH_CHARS_MAX} characters`);
  }
  const ref = encodeText(`refs/heads/${name}`);
  const isName =
    // A lone surrogate has no UTF-8 encoding.
    name.isWellFormed() &&
    // Git would parse these as a revision other than a branch.
    !["HEAD", "@"].includes(name) &&
    isRefName(ref) &&
    findMisleading(ref) === undefined;
  if (!isName) throw invalidField(field, REF_NAME_RULE);
}
