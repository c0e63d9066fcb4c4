import { Failure } from "../../lib/failure.ts";

/** Topics of one repository at most. */
export const TOPICS_MAX = 25;

const NAME = /^[a-z0-9][-.a-z0-9]{0,34}$/;

/**
 * Topics by name, as they are kept: in small letters, sorted, each once. Empty ones are left out.
 *
 * @throws Failure `invalid` for names that can't be, and for more than a repository may have; its
 * details name them.
 */
export function readTopicNames(names: readonly string[]): string[] {
  const tidy = names.map((name) => name.trim().toLowerCase()).filter((name) => name !== "");
  const wanted = [...new Set(tidy)].toSorted();
  if (wanted.length > TOPICS_MAX) throw tooMany(wanted);
  const wrong = wanted.filter((name) => !NAME.test(name));
  if (wrong.length > 0) throw refusal("Topic names are invalid", wrong);
  return wanted;
}

export const tooMany = (names: readonly string[]): Failure =>
  refusal("Exceeding maximum number of topics per repo", names);

/** As clients of the field read it. */
const refusal = (message: string, invalidTopics: readonly string[]): Failure =>
  new Failure("invalid", message, { invalidTopics });
