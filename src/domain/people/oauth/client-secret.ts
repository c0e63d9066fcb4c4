import { formatBase32 } from "../../../lib/base32.ts";

/**
 * A new secret of a client: 256 random bits, with the prefix by which scanners of leaked secrets
 * know it.
 */
export const makeClientSecret = (): string =>
  `gto_${formatBase32(crypto.getRandomValues(new Uint8Array(32)))}`;
