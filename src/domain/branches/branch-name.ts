import { invalid } from "../../lib/failure.ts";
import { checkBranchName } from "../repos/branch-name.ts";

/**
 * Whether a new branch may be called `name`.
 *
 * @param field What the refusal calls it.
 * @throws Failure `invalid`.
 */
export function checkNewBranchName(name: string, field: string): void {
  checkBranchName(name, field);
  // Half a character has no bytes, and git takes a branch called HEAD for something else.
  if (!name.isWellFormed() || name === "HEAD") throw invalid(`[${field}]: GitRefName`);
}
