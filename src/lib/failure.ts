/** Everything a caller could have avoided, by what they can do about it. */
export type FailureKind =
  | "malformed" // the request names something that can't be, and says so in its own terms
  | "invalid" // a field breaks its rule
  | "unauthenticated" // nobody is signed in, or the credential is wrong
  | "forbidden" // signed in, and allowed to know that this is not allowed
  | "not_found" // does not exist, or may not be seen: the caller can't tell which
  | "conflict" // clashes with what is already there
  | "too_large" // over a size that the configuration sets
  | "locked" // archived: readable, not writable
  | "too_many"; // over a rate: come back later

/**
 * A refusal. The message is public: it reaches the caller as it stands.
 *
 * Guards and operations throw it; each door has one renderer from `kind` to its own dialect.
 * Anything else thrown is a bug and is answered without detail.
 */
export class Failure extends Error {
  readonly kind: FailureKind;
  /** What the API tells beside the message. */
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
