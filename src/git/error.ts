/**
 * Why the engine refuses its input, by what the holder of the bytes can do about it.
 *
 * The engine knows no protocol answers: the door or operation that holds the bytes decides what a
 * refusal means to its caller.
 */
export type GitErrorCode =
  | "corrupt" // the bytes break their format, or a checksum does not match
  | "protocol" // well-formed, but not what may be said at this point of the conversation
  | "unsupported" // a version, hash or feature that exists and is not spoken here
  | "limit" // over a bound that the caller set: size, count, depth or ratio
  | "missing"; // an object that must exist does not

/** The engine's only exception. Anything else thrown from `src/git/` is a bug. */
export class GitError extends Error {
  readonly code: GitErrorCode;

  constructor(code: GitErrorCode, message: string) {
    super(message);
    this.name = "GitError";
    this.code = code;
  }
}

export const corrupt = (message: string): GitError => new GitError("corrupt", message);
export const overLimit = (message: string): GitError => new GitError("limit", message);
export const missing = (message: string): GitError => new GitError("missing", message);
