import type { RemoteFailure } from "../outgoing/remote-failure.ts";

/**
 * The message of a failure because an account wants a second factor, which password and name do not
 * replace.
 */
export const WANTS_TWO_FACTORS =
  "the account wants two factors for its password: a token is needed instead";

/** The headers by which forges ask for the code of a second factor. */
const HEADERS = ["X-GitHub-OTP", "X-Gitea-OTP", "X-GitLab-OTP"];

/**
 * Whether a refusal of credentials asks for a second factor.
 *
 * @see https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api
 */
export const asksForTwoFactors = (headers: Headers): boolean =>
  HEADERS.some((name) => /^required\b/i.test(headers.get(name) ?? ""));

/** Whether a failure says that a second factor is wanted. */
export const wantsTwoFactors = ({
  kind,
  message,
}: Pick<RemoteFailure, "kind" | "message">): boolean =>
  kind === "unauthorized" && message === WANTS_TWO_FACTORS;
