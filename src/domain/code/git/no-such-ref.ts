import { type Failure, notFound } from "../../../lib/failure.ts";
import { hasRefs, type RepositorySnapshot } from "./open-snapshot.ts";

/**
 * The failure for a name or id that resolves to nothing in a repository that the caller may see.
 *
 * SECURITY: the same for an object that no ref reaches as for one that never existed.
 */
export const noSuchRef = ({ state }: RepositorySnapshot, message?: string): Failure =>
  notFound(message, hasRefs(state) ? "no-such-ref" : "empty-repository");
