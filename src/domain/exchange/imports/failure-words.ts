import { wantsTwoFactors } from "../../../forges/two-factors.ts";
import type { RemoteFailure } from "../../../outgoing/remote-failure.ts";

/** What a failure of the other side is called, in the words that clients of the field know. */
export function toFailureWords(failure: Pick<RemoteFailure, "kind" | "message">): string {
  const { kind, message } = failure;
  switch (kind) {
    case "blocked":
      return "You can not import from disallowed hosts.";
    case "rate_limited":
      return "Remote visit addressed rate limitation.";
    case "unauthorized":
      return wantsTwoFactors(failure)
        ? "Remote visit required two factors authentication."
        : `Authentication failed: ${message}.`;
    case "not_found":
      // As in the field: forges say no more of what the caller may not see.
      return `Authentication failed: ${message}.`;
    case "unreachable":
    case "timeout":
    case "too_large":
    case "protocol":
    case "refused":
    case "server":
      return `Migration failed: ${message}.`;
    default:
      return kind satisfies never;
  }
}
