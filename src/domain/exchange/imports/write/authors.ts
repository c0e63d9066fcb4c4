import type { ForeignReaction, ForeignUser } from "../../../../forges/forge.ts";
import type { ImportJob, MappedAuthor } from "../import-job.ts";

/** Reactions of one item that are taken. */
const REACTIONS_MAX = 500;

/** The account here of a user elsewhere; undefined for one who has none. */
export function accountOf({ row }: ImportJob, user: ForeignUser): number | undefined {
  const { authors } = row.options;
  const name = user.name.toLowerCase();
  // A name may be `constructor`.
  return Object.hasOwn(authors, name) ? authors[name] : undefined;
}

/**
 * The author of an item.
 *
 * SECURITY: a name elsewhere is not the account of that name here. Only an administrator of the
 * service maps names to accounts.
 */
export function toAuthor(job: ImportJob, user: ForeignUser): MappedAuthor {
  const posterId = accountOf(job, user);
  if (posterId !== undefined) return { posterId, originalAuthor: "", originalAuthorId: 0 };
  const name = user.name.slice(0, 255).toWellFormed() || "ghost";
  return { posterId: null, originalAuthor: name, originalAuthorId: user.id };
}

/** The ids here of users elsewhere, as far as they have accounts. */
export const accountIdsOf = (job: ImportJob, users: readonly ForeignUser[]): number[] => [
  ...new Set(users.flatMap((user) => accountOf(job, user) ?? [])),
];

/**
 * Reactions of users with accounts here: others can't be stored, since a reaction is an account's.
 */
export const reactionsOf = (job: ImportJob, reactions: readonly ForeignReaction[]) =>
  reactions
    .flatMap(({ user, content }) => {
      const userId = accountOf(job, user);
      return userId === undefined ? [] : [{ userId, content }];
    })
    .slice(0, REACTIONS_MAX);
