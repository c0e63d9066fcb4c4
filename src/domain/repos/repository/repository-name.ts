import { invalid, invalidField } from "../../../lib/failure.ts";

const LENGTH_MAX = 100;
const RESERVED = new Set([".", "..", "-"]);
const RESERVED_ENDINGS = [".wiki", ".git", ".rss", ".atom"];

/**
 * Checks that `name` is a valid name for a repository.
 *
 * @param field The field of the request that has the name.
 * @throws Failure `invalid` for an invalid or reserved name.
 */
export function checkRepositoryName(name: string, field = "name"): void {
  if (name.length > LENGTH_MAX) {
    throw invalidField(field, `must have at most ${LENGTH_MAX} characters`);
  }
  if (!/^[-.0-9A-Za-z_]+$/.test(name)) {
    throw invalidField(
      field,
      "must consist of ASCII letters, digits, dashes, dots and underscores",
    );
  }
  const lower = name.toLowerCase();
  if (RESERVED.has(lower)) throw invalid(`name is reserved [name: ${name}]`);
  if (name.includes("..")) throw invalid("name pattern is not allowed [pattern: ..]");
  const ending = RESERVED_ENDINGS.find((each) => lower.endsWith(each));
  if (ending) throw invalid(`name pattern is not allowed [pattern: *${ending}]`);
}
