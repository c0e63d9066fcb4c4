import { requiresTwoFactors } from "../../../forges/two-factors.ts";
import type { RemoteFailure } from "../../../outgoing/remote-failure.ts";

/** The message for a failure of the remote, in the words that Gitea's clients know. */
export function toFailureWords(failure: Pick<RemoteFailure, "kind" | "message">): string {
  const { kind, message } = failure;
  switch (kind) {
    case "blocked":
      return "You can not import from disallowed hosts.";
    case "rate_limited":
      return "Remote visit addressed rate limitation.";
    case "unauthorized":
      return requiresTwoFactors(failure)
        ? "Remote visit required two factors authentication."
        : `Authentication failed: ${message}.`;
    case "not_found":
      // Like other forges, this reveals nothing about a repository that the caller may not see.
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
