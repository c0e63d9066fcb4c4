import type Argon2 from "@phi-ag/argon2";

import { ExpiringMap } from "../lib/expiring-map.ts";
import { formatHex } from "../lib/hex.ts";
import type { User } from "../db/schema/index.ts";
import { HashQueue } from "./hash-queue.ts";
import { hashSecret } from "./secret.ts";

/** Maximum length of a password in characters: hashing time grows with it. */
export const PASSWORD_LENGTH_MAX = 255;

/** OWASP's parameters for argon2id: 19 MiB, two passes, a parallelism of one. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const SALT_BYTES = 16;

/** How long a right password is not hashed again, in milliseconds. */
const REMEMBERED_MS = 60_000;
/** Right passwords that are remembered. */
const REMEMBERED_MAX = 10_000;

// One for all requests of the isolate: it is the isolate's thread that hashes hold.
const queue = new HashQueue();
const rightPasswords = new ExpiringMap<true>(REMEMBERED_MAX);

/**
 * Hashes a password with argon2id into a PHC string, which names its own parameters. About 90 ms of
 * CPU.
 *
 * @throws Failure `too_many` if too many hashes are waiting.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const argon2 = await loadArgon2();
  return queue.run(
    formatHex(salt),
    () => argon2.hash(password.normalize("NFC"), { ...COST, salt }).encoded,
  );
}

/** A password to compare with the hash of an account. */
export interface PasswordClaim {
  /** The name that was sent with the password. */
  readonly name: string;
  readonly password: string;
  /** Null if no account has the name, or the account has no password. */
  readonly hash: string | null;
}

/**
 * Names a claim by a digest under a key of this isolate.
 *
 * SECURITY: neither password nor hash can be read from it. The hash is part of it, so that a
 * password counts no longer once it has changed; the name is, so that claims of unknown names have
 * different digests, as others do.
 */
export async function digestClaim({ name, password, hash }: PasswordClaim): Promise<string> {
  const text = JSON.stringify([name.toLowerCase(), password, hash]);
  const key = await importDigestKey();
  const digest = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text));
  return formatHex(new Uint8Array(digest));
}

/** Whether this isolate found the claim of a digest right within the last minute. */
export const wasRight = (digest: string): boolean =>
  rightPasswords.get(digest, Date.now()) ?? false;

/**
 * Whether the password of a claim matches its hash.
 *
 * SECURITY: without a hash it takes as long as with one, so that timing does not reveal whether an
 * account exists or has a password.
 *
 * @param digest The digest of the claim.
 * @throws Failure `too_many` if too many hashes are waiting.
 */
export async function verifyPassword(
  { password, hash }: PasswordClaim,
  digest: string,
): Promise<boolean> {
  const candidate = password.slice(0, PASSWORD_LENGTH_MAX).normalize("NFC");
  const argon2 = await loadArgon2();
  const isMatch = await queue.run(
    digest,
    () => argon2.tryVerify(hash ?? NO_PASSWORD, candidate).success,
  );
  const isRight = isMatch && hash !== null && password.length <= PASSWORD_LENGTH_MAX;
  if (isRight) rightPasswords.set(digest, true, Date.now() + REMEMBERED_MS);
  return isRight;
}

/** The columns of an account that signing in checks. */
type SignIn = Pick<User, "passwordHash" | "hasTotp" | "hasWebauthn">;

/**
 * A short digest of how an account is signed in to, which differs once its password or its second
 * factors have changed.
 */
export const markSignIn = async ({ passwordHash, hasTotp, hasWebauthn }: SignIn): Promise<string> =>
  (await hashSecret(`sign-in ${JSON.stringify([passwordHash, hasTotp, hasWebauthn])}`)).slice(
    0,
    16,
  );

/** A hash of the same cost that no known password matches. */
const NO_PASSWORD =
  "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

// Made on first use: random values can't be had while a Worker starts.
let digestSecret: Uint8Array<ArrayBuffer> | undefined;
function importDigestKey(): Promise<CryptoKey> {
  digestSecret ??= crypto.getRandomValues(new Uint8Array(32));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", digestSecret, algorithm, false, ["sign"]);
}

// Loaded on first use: most requests carry a token, and plain Node can't import the WebAssembly
// module.
let argon2: Argon2 | undefined;
async function loadArgon2(): Promise<Argon2> {
  if (argon2) return argon2;
  const [library, { default: wasm }] = await Promise.all([
    import("@phi-ag/argon2"),
    import("@phi-ag/argon2/argon2.wasm"),
  ]);
  argon2 = new library.default(new WebAssembly.Instance(wasm));
  return argon2;
}
