import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { cleanIdentityText, type Identity } from "../../../git/object/identity.ts";
import { addSignOff } from "../../../git/object/sign-off.ts";
import type { Oid } from "../../../git/oid.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { ZonedTime } from "../../../lib/time.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import type { Adopted } from "../git/push-refs.ts";

/** An author or committer in a request. Empty and undefined properties count as missing. */
interface Person {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** A commit of another repository of the network, at which a new branch begins. */
export interface CommitBase {
  /** The caller may read it in the other repository. */
  readonly oid: Oid;
  /** What the repository takes from the other one, to have the commit. */
  readonly adopted: Adopted;
}

/** Options of a commit that changes files. Empty and undefined options get defaults. */
export interface CommitOptions {
  readonly message?: string | undefined;
  /** The base branch. Defaults to the default branch. */
  readonly branch?: string | undefined;
  /** The branch to create for the commit, instead of committing to `branch`. */
  readonly newBranch?: string | undefined;
  /** Whether `newBranch` may exist already, and is then overwritten. */
  readonly isForced: boolean;
  readonly author?: Person | undefined;
  readonly committer?: Person | undefined;
  readonly authoredAt?: ZonedTime | undefined;
  readonly committedAt?: ZonedTime | undefined;
  readonly isSignedOff: boolean;
  /** The parent of the commit in place of `branch`; `newBranch` is required then. */
  readonly base?: CommitBase | undefined;
  /** Whether a change that results in the same tree is refused. */
  readonly isChangeRequired?: boolean | undefined;
}

/**
 * Resolves author and committer of a commit. Each falls back to the other's name and email address,
 * then to those of `user`.
 *
 * @throws Failure `invalid` for a name or address that git would reduce to nothing, or a time
 *   before 1970.
 */
export function toIdentities(
  ctx: Ctx,
  user: User,
  commitOptions: CommitOptions,
): { author: Identity; committer: Identity } {
  const own = toIdentity(ctx, user);
  const author = readPerson(commitOptions.author, "author");
  const committer = readPerson(commitOptions.committer, "committer");
  const merge = (first: ReadPerson, second: ReadPerson, at: ZonedTime | undefined): Identity => ({
    name: first.name ?? second.name ?? own.name,
    email: first.email ?? second.email ?? own.email,
    timeSeconds: at?.seconds ?? own.timeSeconds,
    zone: at?.zone ?? own.zone,
  });
  checkTime(commitOptions.authoredAt, "dates.author");
  checkTime(commitOptions.committedAt, "dates.committer");
  return {
    author: merge(author, committer, commitOptions.authoredAt),
    committer: merge(committer, author, commitOptions.committedAt),
  };
}

interface ReadPerson {
  readonly name: ByteText | undefined;
  readonly email: ByteText | undefined;
}

function readPerson(person: Person | undefined, field: string): ReadPerson {
  const clean = (text: string | undefined, part: string): ByteText | undefined => {
    if (!text) return undefined;
    const cleaned = cleanIdentityText(encodeText(text.replaceAll(/\p{Cc}/gu, " ")));
    if (cleaned === "" || !text.isWellFormed()) {
      throw invalidField(`${field}.${part}`, "must contain letters or digits, as Unicode text");
    }
    return cleaned;
  };
  return { name: clean(person?.name, "name"), email: clean(person?.email, "email") };
}

function checkTime(at: ZonedTime | undefined, field: string): void {
  if (at && !(at.seconds >= 0)) throw invalidField(field, "must be 1970-01-01T00:00:00Z or later");
}

/**
 * Formats the stored message of a commit.
 *
 * @param fallback The message if the options have none.
 * @throws Failure `invalid` for a message with a NUL or a lone surrogate.
 */
export function toCommitMessage(
  commitOptions: CommitOptions,
  fallback: string,
  committer: Identity,
): ByteText {
  const text = commitOptions.message?.trim() ?? "";
  if (text.includes("\0") || !text.isWellFormed()) {
    throw invalidField("message", "must be Unicode text without NUL");
  }
  const message = encodeText(`${text || fallback}\n`);
  const { name, email } = committer;
  return commitOptions.isSignedOff
    ? addSignOff(message, `${name} <${email}>` as ByteText)
    : message;
}
