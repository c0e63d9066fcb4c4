/** Kinds of errors that a caller could have avoided, by what the caller can do about them. */
export type FailureKind =
  | "malformed" // the request is not well-formed, or names something that cannot exist
  | "invalid" // a field breaks its rule
  | "unauthenticated" // the caller is not signed in, or the credential is wrong
  | "forbidden" // signed in without the permission, on something the caller may see
  | "not_found" // does not exist, or the caller may not see it; the response is the same
  | "conflict" // conflicts with the current state
  | "too_large" // exceeds a configured size limit
  | "locked" // archived: read-only
  | "too_many"; // exceeds a rate limit; the caller may retry later

/**
 * A refused request. The message is public: it is sent to the caller unchanged.
 *
 * Guards and operations throw it; each door has one renderer from `kind` to its own dialect.
 * Anything else thrown is a bug and is answered without detail.
 */
export class Failure extends Error {
  readonly kind: FailureKind;
  /** Further fields of the API's error response. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(kind: FailureKind, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "Failure";
    this.kind = kind;
    this.details = details;
  }
}

export const malformed = (message: string): Failure => new Failure("malformed", message);
export const invalid = (message: string): Failure => new Failure("invalid", message);
export const unauthenticated = (message: string): Failure =>
  new Failure("unauthenticated", message);
export const forbidden = (message: string): Failure => new Failure("forbidden", message);
export const notFound = (message = "not found"): Failure => new Failure("not_found", message);
export const conflict = (message: string): Failure => new Failure("conflict", message);
export const tooLarge = (message: string): Failure => new Failure("too_large", message);
