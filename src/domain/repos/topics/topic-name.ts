import { Failure } from "../../../lib/failure.ts";

/** Maximum number of topics of a repository. */
export const TOPICS_MAX = 25;

const NAME = /^[a-z0-9][-.a-z0-9]{0,34}$/;

/**
 * Normalises topic names to their stored form: lower case, sorted, without duplicates and empty
 * names.
 *
 * @throws Failure `invalid` for invalid names, and for more than a repository may have; its details
 * list the names.
 */
export function readTopicNames(names: readonly string[]): string[] {
  const tidy = names.map((name) => name.trim().toLowerCase()).filter((name) => name !== "");
  const unique = [...new Set(tidy)].toSorted();
  if (unique.length > TOPICS_MAX) throw tooMany(unique);
  const wrong = unique.filter((name) => !NAME.test(name));
  if (wrong.length > 0) throw refusal("Topic names are invalid", wrong);
  return unique;
}

export const tooMany = (names: readonly string[]): Failure =>
  refusal("Exceeding maximum number of topics per repo", names);

/** A refusal with the details that Gitea clients read. */
const refusal = (message: string, invalidTopics: readonly string[]): Failure =>
  new Failure("invalid", message, { invalidTopics });
