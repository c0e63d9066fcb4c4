/**
 * Why the engine refuses its input, grouped by how the caller can react.
 *
 * The engine knows no status codes or protocol responses: the route or operation that called it
 * maps the code to a response.
 */
export type GitErrorCode =
  | "corrupt" // the bytes break their format, or a checksum does not match
  | "protocol" // well-formed, but not allowed at this point of the protocol
  | "unsupported" // a version, hash or feature that exists and is not implemented here
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
