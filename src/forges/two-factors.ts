import type { RemoteFailure } from "../outgoing/remote-failure.ts";

/**
 * The message of a failure because an account requires a second factor besides its name and
 * password.
 */
export const TWO_FACTORS_REQUIRED =
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

/** Whether a failure means that a second factor is required. */
export const requiresTwoFactors = ({
  kind,
  message,
}: Pick<RemoteFailure, "kind" | "message">): boolean =>
  kind === "unauthorized" && message === TWO_FACTORS_REQUIRED;
