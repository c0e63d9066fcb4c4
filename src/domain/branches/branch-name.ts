import { encodeText } from "../../git/byte-text.ts";
import { isRefName } from "../../git/ref-name.ts";
import { invalid } from "../../lib/failure.ts";

const LENGTH_MAX = 100;

/**
 * Whether a branch may be called `name`, by git's own rules.
 *
 * @param field What the refusal calls it.
 * @throws Failure `invalid`.
 * @see git-check-ref-format(1)
 */
export function checkBranchName(name: string, field: string): void {
  const isName =
    name.length <= LENGTH_MAX &&
    // Half a character has no bytes.
    name.isWellFormed() &&
    // What git takes for an option, or for something else than a branch.
    !name.startsWith("-") &&
    !["HEAD", "@"].includes(name) &&
    isRefName(encodeText(`refs/heads/${name}`));
  if (!isName) throw invalid(`[${field}]: GitRefName`);
}
