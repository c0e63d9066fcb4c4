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
  const isWrong =
    name === "" ||
    name.length > LENGTH_MAX ||
    name === "@" ||
    name.startsWith("-") ||
    // oxlint-disable-next-line no-control-regex -- control characters are what is refused
    /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name) ||
    name.split("/").some((part) => part.startsWith(".") || part.endsWith(".lock"));
  if (isWrong) throw invalid(`[${field}]: GitRefName`);
}
