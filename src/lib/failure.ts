/** Kinds of errors that a caller could have avoided, by what the caller can do about them. */
export type FailureKind =
  | "malformed" // the request is not well-formed, or names something that cannot exist
  | "invalid" // a field breaks its rule
  | "unauthenticated" // the caller is not signed in, or the credential is wrong
  | "forbidden" // signed in without the permission, on something the caller may see
  | "not_found" // does not exist, or the caller may not see it; the response is the same
  | "not_applicable" // exists, but not for a thing of this kind: teams of a user's repository
  | "conflict" // conflicts with the current state
  | "gone" // was there, and is not kept any longer
  | "precondition" // something else must happen first, or the state that is asked for does not exist
  | "too_large" // exceeds a configured size limit
  | "locked" // archived: read-only
  | "no_space" // the storage of the service is full; the same request works once it has space
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
  /** When the caller may try again, in seconds from now. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    retryAfterSeconds?: number,
  ) {
    super(message);
    this.name = "Failure";
    this.kind = kind;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * The thing that is not found, in a word that clients may match.
 *
 * SECURITY: each but the first reveals a repository that the caller may see, or of nothing that is
 * stored.
 */
export type NotFoundReason =
  | "not-found" // nothing of this name, or nothing that the caller may see
  | "no-route" // no operation has this path
  | "not-built" // an operation of Gitea that does not exist here yet
  | "no-such-ref" // the repository has no such branch, tag, ref or commit
  | "no-such-path" // the commit has no such file or directory
  | "empty-repository" // the repository has no commits
  // Nothing of this name among what the token is bound to, whether or not it exists elsewhere.
  | Extract<BindingReason, "token-repositories" | "token-packages">;

/**
 * The binding of an access token that refuses a request, in a word that clients may match.
 */
export type BindingReason = "token-repositories" | "token-refs" | "token-paths" | "token-packages";

/**
 * A failure of kind `forbidden`: the caller's token is bound to other things than the request is
 * about.
 */
export class BeyondToken extends Failure {
  readonly reason: BindingReason;

  /**
   * @param rule What the token may not do. The message begins with the reason, for clients that
   *   show no header.
   */
  constructor(reason: BindingReason, rule: string) {
    super("forbidden", `${reason}: ${rule}`);
    this.reason = reason;
  }
}

/** A failure of kind `not_found` with its reason. */
export class NotFound extends Failure {
  readonly reason: NotFoundReason;

  constructor(message: string, reason: NotFoundReason) {
    super("not_found", message);
    this.reason = reason;
  }
}

export const malformed = (message: string): Failure => new Failure("malformed", message);
export const invalid = (message: string): Failure => new Failure("invalid", message);

/**
 * A field that breaks its rule. All such messages have one form.
 *
 * @param field The JSON field or query parameter as it is sent, `a.b` for a field of an object;
 *   empty for the body.
 * @param rule  What holds of every valid value, with its limit: "must have at most 100 characters".
 */
export const invalidField = (field: string, rule: string): Failure =>
  invalid(`[${field}]: ${rule}`);

export const unauthenticated = (message: string): Failure =>
  new Failure("unauthenticated", message);
export const forbidden = (message: string): Failure => new Failure("forbidden", message);
export const notFound = (message = "not found", reason: NotFoundReason = "not-found"): Failure =>
  new NotFound(message, reason);
export const notApplicable = (message: string): Failure => new Failure("not_applicable", message);
export const conflict = (message: string): Failure => new Failure("conflict", message);
export const gone = (message: string): Failure => new Failure("gone", message);
export const precondition = (message: string): Failure => new Failure("precondition", message);
export const tooLarge = (message: string): Failure => new Failure("too_large", message);
export const tooManyRequests = (message: string, retryAfterSeconds: number): Failure =>
  new Failure("too_many", message, {}, retryAfterSeconds);
