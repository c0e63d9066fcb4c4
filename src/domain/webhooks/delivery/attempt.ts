import type { HookDelivery } from "../../../db/schema/index.ts";
import type { DeliveryRequest } from "../../../events/webhooks/deliveries/delivery-request.ts";
import { secretNames } from "../../../outgoing/outgoing-headers.ts";
import type { AttemptOutcome } from "./classify-outcome.ts";

/** What was sent, and what came back. */
export interface Attempt {
  /** Undefined where none was made. */
  request: DeliveryRequest | undefined;
  /** What a chat was sent. */
  message: string | null;
  outcome: AttemptOutcome;
  durationMs: number;
}

/** What is kept of it. */
type StoredAttempt = Pick<
  HookDelivery,
  | "requestUrl"
  | "requestHeaders"
  | "requestBody"
  | "responseStatus"
  | "responseHeaders"
  | "responseBody"
  | "failure"
  | "durationMs"
>;

/** Bytes that are kept of an answer's body. */
export const RECORDED_BYTES_MAX = 16_384;

const HEADERS_MAX = 64;
const HEADER_CHARS_MAX = 8192;

const isSecret = secretNames();

/** What whoever looks after a hook sees of an attempt. */
export function toStoredAttempt(
  { request, message, outcome, durationMs }: Attempt,
  timeoutMs: number,
): StoredAttempt {
  const hasAnswer = outcome.kind === "answered" || outcome.kind === "too_large";
  const hide = hiding(request?.headers["Authorization"]);
  return {
    requestUrl: request?.url ?? "",
    requestHeaders: request ? withoutSecrets(request.headers) : null,
    requestBody: message,
    responseStatus: hasAnswer ? outcome.status : null,
    responseHeaders: hasAnswer ? toStoredHeaders(outcome.headers, hide) : null,
    responseBody: hasAnswer ? hide(toText(outcome.body, outcome.kind === "too_large")) : null,
    failure: failureOf(outcome, timeoutMs),
    durationMs,
  };
}

/** SECURITY: a receiver that says what it was sent tells no secret by it. */
const hiding =
  (secret = "") =>
  (text: string): string =>
    secret === "" ? text : text.replaceAll(secret, "…");

/** SECURITY: whoever may read deliveries need not know what opens the receiver. */
const withoutSecrets = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isSecret(name)));

/** The first headers of an answer; it may have sent any number. */
function toStoredHeaders(headers: Headers, hide: (text: string) => string): Record<string, string> {
  const kept: Record<string, string> = {};
  let charCount = 0;
  let count = 0;
  for (const [name, value] of headers) {
    if (name === "set-cookie") continue;
    charCount += name.length + value.length;
    count += 1;
    if (charCount > HEADER_CHARS_MAX || count > HEADERS_MAX) break;
    kept[name] = hide(withoutNul(value));
  }
  return kept;
}

/** @param isCut Whether the last character may be there in part only: then it is left out. */
const toText = (bytes: Uint8Array, isCut: boolean): string =>
  withoutNul(new TextDecoder().decode(bytes, { stream: isCut }));

/** A text in the database ends at one. */
const withoutNul = (text: string): string => text.replaceAll("\0", "");

function failureOf(outcome: AttemptOutcome, timeoutMs: number): string {
  switch (outcome.kind) {
    case "answered":
    case "too_large":
      return "";
    case "timeout":
      return `no answer within ${timeoutMs / 1000} s`;
    case "silent":
      return "not sent: there is nothing to tell a chat of this";
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
