/** Seconds that a code is valid for. */
const PERIOD_SECONDS = 30;
/**
 * Steps before and after the current one whose codes are accepted: clocks differ, and people type
 * slowly.
 */
const WINDOW = 1;

// Loaded when it is first needed: few requests carry a code.
const load = () => import("otpauth");

/** A new secret of 160 random bits, in base32 as authenticator apps take it. */
export async function makeTotpSecret(): Promise<string> {
  const { Secret } = await load();
  return new Secret({ size: 20 }).base32;
}

/**
 * The address that an authenticator app scans.
 *
 * @see https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export async function totpUri(secret: string, issuer: string, label: string): Promise<string> {
  return (await open(secret, { issuer, label })).toString();
}

/**
 * The time step whose code this is; undefined if it is none of the current one and its neighbours.
 *
 * @param now In milliseconds.
 */
export async function findTotpStep(
  secret: string,
  code: string,
  now: number,
): Promise<number | undefined> {
  const totp = await open(secret);
  const delta = totp.validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? undefined : totp.counter({ timestamp: now }) + delta;
}

/** SHA-1 and six digits: the only ones that every authenticator app knows. @see RFC 6238 */
async function open(secret: string, names: { issuer?: string; label?: string } = {}) {
  const { TOTP } = await load();
  return new TOTP({ ...names, secret, algorithm: "SHA1", digits: 6, period: PERIOD_SECONDS });
}
