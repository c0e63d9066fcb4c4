import { deriveSigningKey } from "../../../auth/signing-key.ts";
import type { SealingKey } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import { formatBase64Url, parseBase64Url } from "../../../lib/base64.ts";
import { forbidden } from "../../../lib/failure.ts";

const PURPOSE = "artifact addresses";
const LIFE_MS = 60 * 60 * 1000;

/** What an address is good for, beside the artifact. */
export type AddressUse = "upload" | "download" | "zip";

/** What an address leads to. */
export interface AddressedArtifact {
  readonly artifactId: number;
  /** The task for which it was made, and with which it ends; 0 for none. */
  readonly taskId: number;
}

/**
 * The query of an address that needs no other credential, for an hour.
 *
 * @throws Failure `forbidden` where the service has no key to sign with.
 */
export async function signAddress(
  { config, now }: Pick<Ctx, "config" | "now">,
  use: AddressUse,
  { artifactId, taskId }: AddressedArtifact,
): Promise<URLSearchParams> {
  const [key] = config.sealingKeys;
  if (!key) throw forbidden("the service has no key to sign addresses with");
  const expires = String(now + LIFE_MS);
  const text = textOf(use, String(artifactId), String(taskId), expires);
  const signature = await crypto.subtle.sign("HMAC", await signingKey(key), text);
  return new URLSearchParams({
    sig: formatBase64Url(new Uint8Array(signature)),
    expires,
    artifactID: String(artifactId),
    ...(taskId !== 0 && { taskID: String(taskId) }),
  });
}

/**
 * Reads the query of an address.
 *
 * @throws Failure `forbidden` for one that is altered, was made for another use, or has expired.
 */
export async function readAddress(
  { config, now }: Pick<Ctx, "config" | "now">,
  use: AddressUse,
  query: URLSearchParams,
): Promise<AddressedArtifact> {
  const artifactId = query.get("artifactID") ?? "";
  const taskId = query.get("taskID") ?? "0";
  const expires = query.get("expires") ?? "";
  const signature = parseBase64Url(query.get("sig") ?? "");
  const text = textOf(use, artifactId, taskId, expires);
  if (!signature || !(await isSigned(config.sealingKeys, signature, text))) {
    throw forbidden("the address is not one that the service has signed");
  }
  if (Number(expires) <= now) throw forbidden("the address has expired");
  return { artifactId: Number(artifactId), taskId: Number(taskId) };
}

async function isSigned(
  keys: readonly SealingKey[],
  signature: Uint8Array<ArrayBuffer>,
  text: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const key of keys) {
    if (await crypto.subtle.verify("HMAC", await signingKey(key), signature, text)) return true;
  }
  return false;
}

const textOf = (...parts: readonly string[]): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify(parts));

/** Derived keys by those of the configuration, which never change. */
const signingKeys = new WeakMap<SealingKey, Promise<CryptoKey>>();

function signingKey(key: SealingKey): Promise<CryptoKey> {
  let derived = signingKeys.get(key);
  if (!derived) {
    derived = deriveSigningKey(key, PURPOSE);
    signingKeys.set(key, derived);
  }
  return derived;
}
