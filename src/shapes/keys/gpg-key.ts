import { z } from "@hono/zod-openapi";

import type { GpgKey as GpgKeyRow } from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";

const GPGKeyEmail = z.object({ email: z.string(), verified: z.boolean() }).openapi("GPGKeyEmail");

const GPGKeyFields = z.object({
  id: Int64,
  primary_key_id: z.string(),
  key_id: z.string(),
  public_key: z.string(),
  emails: z.array(GPGKeyEmail),
  can_sign: z.boolean(),
  can_encrypt_comms: z.boolean(),
  can_encrypt_storage: z.boolean(),
  can_certify: z.boolean(),
  verified: z.boolean().openapi({
    description: "Whether the user proved to hold the key, by a signature of the token",
  }),
  created_at: Time,
  expires_at: TimeOrNull,
});

/** Subkeys have the fields of keys, and an empty list of subkeys. */
export const GPGKey = GPGKeyFields.extend({
  subkeys: z.array(GPGKeyFields.extend({ subkeys: z.array(GPGKeyFields) })),
}).openapi("GPGKey");

/**
 * Formats a key with its subkeys.
 *
 * @param confirmedEmails The account's confirmed e-mail addresses, in lower case.
 */
export function toGpgKey(
  key: GpgKeyRow,
  subkeys: readonly GpgKeyRow[],
  confirmedEmails: ReadonlySet<string>,
): z.infer<typeof GPGKey> {
  const fields = (row: GpgKeyRow): z.infer<typeof GPGKeyFields> => ({
    id: row.id,
    primary_key_id: row.primaryKeyId,
    key_id: row.keyId,
    public_key: row.publicKey,
    emails: row.emails.map((email) => ({ email, verified: confirmedEmails.has(email) })),
    can_sign: row.canSign,
    can_encrypt_comms: row.canEncryptComms,
    can_encrypt_storage: row.canEncryptStorage,
    can_certify: row.canCertify,
    verified: key.isProven,
    created_at: formatTime(row.createdAt),
    expires_at: formatTimeOrNull(row.expiresAt),
  });
  return { ...fields(key), subkeys: subkeys.map((subkey) => ({ ...fields(subkey), subkeys: [] })) };
}
