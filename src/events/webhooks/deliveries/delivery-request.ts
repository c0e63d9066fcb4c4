import { formatHex } from "../../../lib/hex.ts";
import { type DeliveredEvent, familyOf } from "../payloads/hook-event.ts";
import type { DeliveryTarget } from "./delivery-target.ts";

/** The delivery of one event to one hook. */
export interface Delivery {
  /** A UUID, the same on each attempt. */
  readonly id: string;
  readonly event: DeliveredEvent;
  /** The id of the event; within a repository ids rise. */
  readonly eventId: number;
  readonly content: DeliveryContent;
}

/** A content in the bytes in which it is sent, for all hooks that receive it in the same form. */
export interface DeliveryContent {
  /** The output of `formatContent`. */
  readonly text: string;
  readonly json: Uint8Array<ArrayBuffer>;
  /** The same as the field of a form; encoded on first use. */
  readonly form: Uint8Array<ArrayBuffer>;
}

/** @param text The output of `formatContent`. */
export function toDeliveryContent(text: string): DeliveryContent {
  const encoder = new TextEncoder();
  let form: Uint8Array<ArrayBuffer> | undefined;
  return {
    text,
    json: encoder.encode(text),
    get form() {
      return (form ??= encoder.encode(new URLSearchParams({ payload: text }).toString()));
    },
  };
}

/**
 * The request of a delivery. Header names are spelled as receivers know them from Gitea and GitHub.
 */
export interface DeliveryRequest {
  readonly method: "POST" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Builds the request of a delivery. The same hook and delivery produce the same bytes. */
export async function toDeliveryRequest(
  hook: DeliveryTarget,
  delivery: Delivery,
): Promise<DeliveryRequest> {
  const { content } = delivery;
  const takesPayload = hook.type === "gitea" || hook.type === "gogs";
  const isForm = takesPayload && hook.contentType === "form";
  const headers = {
    "Content-Type": isForm ? "application/x-www-form-urlencoded" : "application/json",
    ...toHeaders(hook, delivery, await signContent(hook.secret, content.json)),
  };
  const body = isForm ? content.form : content.json;
  if (hook.type !== "matrix") return { method: "POST", url: hook.url, headers, body };
  // Matrix processes each transaction id once, so attempts may be repeated.
  return { method: "PUT", url: appendName(hook.url, delivery.id), headers, body };
}

/** Headers that must not reach a different host than the hook's: they authenticate the sender. */
export const SIGNATURE_HEADERS = [
  "X-Gitea-Signature",
  "X-Gogs-Signature",
  "X-Hub-Signature",
  "X-Hub-Signature-256",
] as const;

/**
 * The headers that identify a delivery and authenticate the sender. The signatures are over the
 * JSON, also for a form.
 */
function toHeaders(
  { level, authorizationHeader }: DeliveryTarget,
  { id, event, eventId }: Delivery,
  { sha1, sha256 }: Signatures,
): Record<string, string> {
  const family = familyOf(event);
  return {
    "X-Gitea-Delivery": id,
    "X-Gitea-Event": family,
    "X-Gitea-Event-Type": event,
    "X-Gitea-Signature": sha256,
    "X-Gitea-Hook-Installation-Target-Type": level,
    "X-Gogs-Delivery": id,
    "X-Gogs-Event": family,
    "X-Gogs-Event-Type": event,
    "X-Gogs-Signature": sha256,
    "X-Hub-Signature": `sha1=${sha1}`,
    "X-Hub-Signature-256": `sha256=${sha256}`,
    "X-GitHub-Delivery": id,
    "X-GitHub-Event": family,
    "X-GitHub-Event-Type": event,
    "X-GitHub-Hook-Installation-Target-Type": level,
    "X-Edgeforge-Event-Id": String(eventId),
    ...(authorizationHeader !== "" && { Authorization: authorizationHeader }),
  };
}

/** Signatures of a content, in hex; empty if there is no secret. */
interface Signatures {
  readonly sha1: string;
  readonly sha256: string;
}

/** HMACs over exactly these bytes, keyed with the secret in UTF-8. */
async function signContent(secret: string, content: Uint8Array<ArrayBuffer>): Promise<Signatures> {
  // Web Crypto refuses an empty HMAC key.
  if (secret === "") return { sha1: "", sha256: "" };
  const [sha1, sha256] = await Promise.all([
    sign("SHA-1", secret, content),
    sign("SHA-256", secret, content),
  ]);
  return { sha1, sha256 };
}

async function sign(
  hash: "SHA-1" | "SHA-256",
  secret: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash }, false, ["sign"]);
  return formatHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, content)));
}

/** Appends a segment to a URL's path; the query is kept. */
function appendName(address: string, name: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${name}`;
  return url.href;
}
