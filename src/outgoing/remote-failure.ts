/** The kinds of failures of a remote, in a request, a fetch or a push. */
export type RemoteFailureKind =
  /** The address is not allowed. */
  | "blocked"
  | "unreachable"
  | "timeout"
  /** It wants credentials, or others. */
  | "unauthorized"
  | "not_found"
  | "rate_limited"
  /** Its answer exceeds a limit. */
  | "too_large"
  /** Its answer violates its protocol or documentation. */
  | "protocol"
  /** It understood, and does not want to. */
  | "refused"
  /** It failed itself. */
  | "server";

/** Kinds that may pass without anybody doing something. */
const PASSING: ReadonlySet<RemoteFailureKind> = new Set([
  "unreachable",
  "timeout",
  "rate_limited",
  "server",
]);

/**
 * The other side is to blame.
 *
 * SECURITY: the message is shown, stored and logged. It holds no credentials, even if the other
 * side repeats them.
 */
export class RemoteFailure extends Error {
  override readonly name = "RemoteFailure";
  readonly kind: RemoteFailureKind;
  /** The end of a rate limit, in milliseconds. */
  readonly retryAt: number | undefined;

  constructor(kind: RemoteFailureKind, message: string, retryAt?: number) {
    super(message);
    this.kind = kind;
    this.retryAt = retryAt;
  }

  /** Whether it may go away by itself, so that trying again is worthwhile. */
  get mayPass(): boolean {
    return PASSING.has(this.kind);
  }
}
