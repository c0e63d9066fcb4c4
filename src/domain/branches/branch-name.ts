import { encodeText } from "../../git/byte-text.ts";
import { isRefName } from "../../git/ref-name.ts";
import { invalid } from "../../lib/failure.ts";

const LENGTH_MAX = 100;

/**
 * Validates a branch name by git's rules.
 *
 * @param field The field name in the error message.
 * @throws Failure `invalid` for an invalid name, or one over 100 characters.
 * @see git-check-ref-format(1)
 */
export function checkBranchName(name: string, field: string): void {
  const isName =
    name.length <= LENGTH_MAX &&
    // A lone surrogate has no UTF-8 encoding.
    name.isWellFormed() &&
    // Git would parse these as an option or as a revision other than a branch.
    !name.startsWith("-") &&
    !["HEAD", "@"].includes(name) &&
    isRefName(encodeText(`refs/heads/${name}`));
  if (!isName) throw invalid(`[${field}]: GitRefName`);
}
