import type { ImageErrorCode } from "../../domain/packages/images/image-failure.ts";
import type { FailureKind } from "../../lib/failure.ts";
import type { RegistryContext } from "../env.ts";
import { failureRenderer, jsonDialect } from "../render-failure.ts";

type ErrorCode = ImageErrorCode | "UNAUTHORIZED" | "DENIED" | "TOOMANYREQUESTS" | "UNKNOWN";

/** The codes of refusals that are not the registry's own. */
const CODES: Partial<Record<FailureKind, ErrorCode>> = {
  unauthenticated: "UNAUTHORIZED",
  forbidden: "DENIED",
  not_found: "NAME_UNKNOWN",
  not_applicable: "UNSUPPORTED",
  too_large: "SIZE_INVALID",
  too_many: "TOOMANYREQUESTS",
};

/** The form of errors of the distribution specification. */
export const imageError = (
  code: string,
  message: string,
  detail: unknown = {},
): { errors: object[] } => ({ errors: [{ code, message, detail }] });

/**
 * The challenge by which clients find the token endpoint. It names no scope, since tokens are not
 * narrowed.
 */
const bearerChallenge = (rootUrl: string): string =>
  `Bearer realm="${rootUrl}/v2/token",service="container_registry",scope="*"`;

/** Renders refusals as `{errors: [{code, message, detail}]}`. */
export const renderImageFailure = failureRenderer({
  ...jsonDialect((message, failure) => {
    const { code = failure ? (CODES[failure.kind] ?? "UNSUPPORTED") : "UNKNOWN", detail } =
      failure?.details ?? {};
    return imageError(String(code), message, detail);
  }),
  challenge: (c) => bearerChallenge((c as RegistryContext).var.base.rootUrl),
});
