import { hashSecret, makeSecret } from "../../../auth/secret.ts";

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long a code may be exchanged. */
export const CODE_LIFE_MS = 5 * MINUTE_MS;
/** How long an access token is valid. */
export const ACCESS_LIFE_MS = HOUR_MS;
/** How long a grant lasts that is not refreshed: as long as Gitea's refresh tokens. */
export const REFRESH_LIFE_MS = 730 * HOUR_MS;

/** A new authorization code: 160 random bits. */
export const makeCode = (): string => `gta_${makeSecret()}`;

/** A refresh token, and the hashes that are stored of it. */
export interface RefreshToken {
  readonly token: string;
  readonly familyHash: string;
  readonly refreshHash: string;
}

/**
 * A new refresh token: a part that all refresh tokens of its grant share, and one of its own. By
 * the first, a token that was replaced leads to its grant, and none of the replaced ones must be
 * stored.
 */
export async function makeRefreshToken(family = makeSecret()): Promise<RefreshToken> {
  const token = `gtr_${family}${makeSecret()}`;
  return {
    token,
    familyHash: await hashSecret(family),
    refreshHash: await hashSecret(token),
  };
}

/** The parts of a refresh token, or undefined for a text that is none. */
export async function parseRefreshToken(
  token: string,
): Promise<(RefreshToken & { readonly family: string }) | undefined> {
  const [, family] = /^gtr_([0-9a-f]{40})[0-9a-f]{40}$/.exec(token) ?? [];
  if (family === undefined) return undefined;
  return {
    token,
    family,
    familyHash: await hashSecret(family),
    refreshHash: await hashSecret(token),
  };
}
