import { Failure, type FailureKind } from "../../../lib/failure.ts";

/** The codes of the OCI distribution specification for refusals of its own, with what they are. */
const KINDS = {
  BLOB_UNKNOWN: "not_found",
  BLOB_UPLOAD_INVALID: "malformed",
  BLOB_UPLOAD_UNKNOWN: "not_found",
  DIGEST_INVALID: "malformed",
  MANIFEST_BLOB_UNKNOWN: "not_found",
  MANIFEST_INVALID: "malformed",
  MANIFEST_UNKNOWN: "not_found",
  NAME_INVALID: "malformed",
  NAME_UNKNOWN: "not_found",
  SIZE_INVALID: "malformed",
  UNSUPPORTED: "not_applicable",
} as const satisfies Record<string, FailureKind>;

export type ImageErrorCode = keyof typeof KINDS;

/** A refusal with its code, which the registry sends, and with what it is about. */
export const imageFailure = (
  code: ImageErrorCode,
  message: string,
  detail?: Readonly<Record<string, unknown>>,
): Failure => new Failure(KINDS[code], message, { code, ...(detail && { detail }) });
