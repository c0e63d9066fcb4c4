/** What can be wrong with the other side. */
export type RemoteFailureKind =
  | "blocked" // the rules for outgoing requests forbid the address
  | "unreachable" // no such host, no connection, or the answer broke off
  | "timeout" // nothing happened for too long, or all of it took too long
  | "unauthorized" // credentials are missing, wrong, or not enough
  | "not_found" // no repository there
  | "rate_limited" // too many requests; try again at `retryAt`
  | "too_large" // more than the limits allow
  | "protocol" // not what git's protocol says, or data that is damaged or refused here
  | "refused" // the other side understands and does not want to
  | "server"; // an error of the other side

/** A remote failed. The message is safe to show and to store: it has no credentials. */
export class RemoteFailure extends Error {
  readonly kind: RemoteFailureKind;
  /** When to try again, in milliseconds since 1970, if the other side says so. */
  readonly retryAt: number | undefined;

  constructor(kind: RemoteFailureKind, message: string, retryAt?: number) {
    super(message);
    this.name = "RemoteFailure";
    this.kind = kind;
    this.retryAt = retryAt;
  }
}
