import type Argon2 from "@phi-ag/argon2";

/** Maximum length of a password in characters: hashing time grows with it. */
export const PASSWORD_LENGTH_MAX = 255;

/** OWASP's parameters for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const SALT_BYTES = 16;

/** Hashes a password with argon2id into a PHC string, which names its own parameters. About 90 ms of CPU. */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  return (await loadArgon2()).hash(password.normalize("NFC"), { ...COST, salt }).encoded;
}

/**
 * Whether `password` matches `hash`.
 *
 * SECURITY: without a hash it takes as long as with one, so that timing does not reveal whether an account
 * exists or has a password.
 */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const candidate = password.slice(0, PASSWORD_LENGTH_MAX).normalize("NFC");
  const isMatch = (await loadArgon2()).tryVerify(hash ?? NO_PASSWORD, candidate).success;
  return isMatch && hash !== null && password.length <= PASSWORD_LENGTH_MAX;
}

/** A hash of the same cost that no known password matches. */
const NO_PASSWORD =
  "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

// Loaded on first use: most requests carry a token, and plain Node can't import the WebAssembly module.
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
