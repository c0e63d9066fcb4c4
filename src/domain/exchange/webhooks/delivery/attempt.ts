import type { HookDelivery } from "../../../../db/schema/index.ts";
import type { DeliveryRequest } from "../../../../events/webhooks/deliveries/delivery-request.ts";
import { secretNames } from "../../../../outgoing/outgoing-headers.ts";
import type { AttemptOutcome } from "./classify-outcome.ts";

/** One attempt of a delivery: the request, its outcome and its duration. */
export interface Attempt {
  /** Undefined if no request was sent. */
  request: DeliveryRequest | undefined;
  /** The message that was sent to a chat; null for hooks that receive the payload. */
  message: string | null;
  outcome: AttemptOutcome;
  durationMs: number;
}

/** The columns of a delivery that store its last attempt. */
export type StoredAttempt = Pick<
  HookDelivery,
  | "isArchived"
  | "requestUrl"
  | "requestHeaders"
  | "requestBody"
  | "responseStatus"
  | "responseHeaders"
  | "responseBody"
  | "failure"
  | "durationMs"
>;

/** Bytes of a response body that are stored. */
export const RECORDED_BYTES_MAX = 16_384;

const HEADERS_MAX = 64;
const HEADER_CHARS_MAX = 8192;

const isSecret = secretNames();

/** Converts an attempt to the columns that the hook's administrators can read. */
export function toStoredAttempt(
  { request, message, outcome, durationMs }: Attempt,
  timeoutMs: number,
): StoredAttempt {
  const hasResponse = outcome.kind === "answered" || outcome.kind === "too_large";
  const redact = redactor(request?.headers["Authorization"]);
  return {
    isArchived: false,
    requestUrl: request?.url ?? "",
    requestHeaders: request ? withoutSecrets(request.headers) : null,
    // JSON of a half of a surrogate pair is none that SQLite can store.
    requestBody: message?.toWellFormed() ?? null,
    responseStatus: hasResponse ? outcome.status : null,
    responseHeaders: hasResponse ? toStoredHeaders(outcome.headers, redact) : null,
    responseBody: hasResponse ? redact(toText(outcome.body, outcome.kind === "too_large")) : null,
    failure: failureOf(outcome, timeoutMs),
    durationMs,
  };
}

/** SECURITY: a response that echoes the request must not disclose the authorization header. */
const redactor =
  (secret = "") =>
  (text: string): string =>
    secret === "" ? text : text.replaceAll(secret, "…");

/** SECURITY: accounts that may read deliveries must not learn the credentials of the receiver. */
const withoutSecrets = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isSecret(name)));

/** The first headers of a response, which may have any number. */
function toStoredHeaders(
  headers: Headers,
  redact: (text: string) => string,
): Record<string, string> {
  const stored: Record<string, string> = {};
  let charCount = 0;
  let count = 0;
  for (const [name, value] of headers) {
    if (name === "set-cookie") continue;
    charCount += name.length + value.length;
    count += 1;
    if (charCount > HEADER_CHARS_MAX || count > HEADERS_MAX) break;
    stored[name] = redact(withoutNul(value));
  }
  return stored;
}

/** @param isCut Whether the bytes may end within a character, which is then left out. */
const toText = (bytes: Uint8Array, isCut: boolean): string =>
  withoutNul(new TextDecoder().decode(bytes, { stream: isCut }));

/** SQLite ends a text at a NUL. */
const withoutNul = (text: string): string => text.replaceAll("\0", "");

function failureOf(outcome: AttemptOutcome, timeoutMs: number): string {
  switch (outcome.kind) {
    case "answered":
    case "too_large":
      return "";
    case "timeout":
      return `no answer within ${timeoutMs / 1000} s`;
    case "silent":
      return "not sent: there is no chat message for this event";
    case "broken":
      return "not sent: the service failed";
    case "blocked":
    case "network":
    case "unsendable":
      return outcome.reason;
    default:
      return outcome satisfies never;
  }
}
