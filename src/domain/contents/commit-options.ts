import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { type ByteText, encodeText } from "../../git/byte-text.ts";
import { cleanIdentityText, type Identity } from "../../git/object/identity.ts";
import { addSignOff } from "../../git/object/sign-off.ts";
import { invalid } from "../../lib/failure.ts";
import type { ZonedTime } from "../../lib/time.ts";
import { toIdentity } from "../accounts/git-identity.ts";

/** Somebody as a request names them. What is empty or left out is not told. */
interface Person {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** How a change of files is to be committed. What is empty or undefined is left to the service. */
export interface CommitOptions {
  readonly message?: string | undefined;
  /** What the change is based on; the default branch, if it is left out. */
  readonly branch?: string | undefined;
  /** Where it goes, instead of to `branch`. */
  readonly newBranch?: string | undefined;
  /** Whether `newBranch` may be there already, and is moved whatever it leads to. */
  readonly isForced: boolean;
  readonly author?: Person | undefined;
  readonly committer?: Person | undefined;
  readonly authoredAt?: ZonedTime | undefined;
  readonly committedAt?: ZonedTime | undefined;
  readonly isSignedOff: boolean;
}

/**
 * Who makes a commit. Each of author and committer lends the other what that leaves out; what both
 * leave out is `user`'s.
 *
 * @throws Failure `invalid` for a name or address of which git would keep nothing, or a time that it
 * doesn't know.
 */
export function toIdentities(
  ctx: Ctx,
  user: User,
  commitOptions: CommitOptions,
): { author: Identity; committer: Identity } {
  const own = toIdentity(ctx, user);
  const author = readPerson(commitOptions.author, "Author");
  const committer = readPerson(commitOptions.committer, "Committer");
  const unite = (first: ReadPerson, second: ReadPerson, at: ZonedTime | undefined): Identity => ({
    name: first.name ?? second.name ?? own.name,
    email: first.email ?? second.email ?? own.email,
    timeSeconds: at?.seconds ?? own.timeSeconds,
    zone: at?.zone ?? own.zone,
  });
  checkTime(commitOptions.authoredAt, "DatesAuthor");
  checkTime(commitOptions.committedAt, "DatesCommitter");
  return {
    author: unite(author, committer, commitOptions.authoredAt),
    committer: unite(committer, author, commitOptions.committedAt),
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
    if (cleaned === "" || !text.isWellFormed()) throw invalid(`[${field}${part}]: invalid`);
    return cleaned;
  };
  return { name: clean(person?.name, "Name"), email: clean(person?.email, "Email") };
}

function checkTime(at: ZonedTime | undefined, field: string): void {
  if (at && !(at.seconds >= 0)) throw invalid(`[${field}]: a time before 1970`);
}

/**
 * The message of a commit, as it is stored.
 *
 * @param fallback Where nobody wrote one.
 * @throws Failure `invalid`.
 */
export function toCommitMessage(
  commitOptions: CommitOptions,
  fallback: string,
  committer: Identity,
): ByteText {
  const text = commitOptions.message?.trim() ?? "";
  if (text.includes("\0") || !text.isWellFormed()) throw invalid("[Message]: not a text");
  const message = encodeText(`${text || fallback}\n`);
  const { name, email } = committer;
  return commitOptions.isSignedOff
    ? addSignOff(message, `${name} <${email}>` as ByteText)
    : message;
}
