import { asFailure, CALLER_LEFT_STATUS } from "../../entrance/as-failure.ts";
import { FAILURE_STATUS } from "../../entrance/failure-status.ts";
import { Failure, type FailureKind } from "../../lib/failure.ts";
import { logBug } from "../../lib/log.ts";
import { CallerLeft } from "../../lib/step-budget.ts";
import { escapeXml } from "../../lib/xml.ts";
import type { ArtifactsContext } from "./env.ts";

type Handler = (c: ArtifactsContext) => Promise<Response>;
type Render = (kind: FailureKind | "bug", message: string) => Response;

/** A handler whose refusals have the form that its clients read. */
const rendering =
  (render: Render) =>
  (handle: Handler): Handler =>
  async (c) => {
    try {
      return await handle(c);
    } catch (thrown) {
      if (thrown instanceof CallerLeft) return new Response(null, { status: CALLER_LEFT_STATUS });
      const error = asFailure(thrown);
      if (error instanceof Failure) return render(error.kind, error.message);
      const { requestId } = c.env;
      logBug(requestId, error);
      return render("bug", `internal error, request ${requestId}`);
    }
  };

/** @see https://twitchtv.github.io/twirp/docs/spec_v7.html */
const TWIRP_CODES: Readonly<Record<FailureKind | "bug", readonly [code: string, status: number]>> =
  {
    malformed: ["invalid_argument", 400],
    invalid: ["invalid_argument", 400],
    unauthenticated: ["unauthenticated", 401],
    forbidden: ["permission_denied", 403],
    not_found: ["not_found", 404],
    not_applicable: ["failed_precondition", 412],
    conflict: ["already_exists", 409],
    gone: ["not_found", 404],
    precondition: ["failed_precondition", 412],
    // Not 429, which clients repeat.
    too_large: ["resource_exhausted", 403],
    locked: ["failed_precondition", 412],
    too_many: ["resource_exhausted", 429],
    no_space: ["unavailable", 503],
    bug: ["internal", 500],
  };

export const asTwirp = rendering((kind, msg) => {
  const [code, status] = TWIRP_CODES[kind];
  return Response.json({ code, msg }, { status });
});

const statusOf = (kind: FailureKind | "bug"): number =>
  kind === "bug" ? 500 : kind === "no_space" ? 503 : FAILURE_STATUS[kind];

const BLOB_CODES: Partial<Record<FailureKind | "bug", string>> = {
  forbidden: "AuthenticationFailed",
  conflict: "BlobImmutableDueToPolicy",
  too_large: "RequestBodyTooLarge",
  no_space: "ServerBusy",
  bug: "InternalError",
};

/** @see https://learn.microsoft.com/rest/api/storageservices/status-and-error-codes2 */
export const asBlobStore = rendering((kind, message) => {
  const code = BLOB_CODES[kind] ?? "InvalidInput";
  const text = escapeXml(message);
  const xml = `<?xml version="1.0" encoding="utf-8"?>
<Error><Code>${code}</Code><Message>${text}</Message></Error>
`;
  return new Response(xml, {
    status: statusOf(kind),
    headers: { "Content-Type": "application/xml", "x-ms-error-code": code },
  });
});

export const asPipeline = rendering((kind, message) =>
  // Clients repeat a 413, and say of a 403 that there is no room.
  Response.json({ message }, { status: kind === "too_large" ? 403 : statusOf(kind) }),
);
