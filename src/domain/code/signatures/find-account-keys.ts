import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { gpgKeys, publicKeys, users } from "../../../db/schema/index.ts";
import {
  selectOwners,
  toAddressQuery,
  type AddressQuery,
} from "../../people/accounts/find-by-addresses.ts";
import { isTrusted } from "../../people/keys/gpg-keys.ts";
import type { ReadSignature, SignerKey } from "./read-signature.ts";

/** A key name to look up in the account that has an email address. */
type KeyReference = { readonly email: string } & Pick<ReadSignature, "kind" | "keyName">;

/** The accounts of email addresses, with those of the requested keys that they have. */
export interface AccountKeys {
  /** Finds the name of the account that has an address. */
  findName(email: string): string | undefined;
  /** Finds a key by its name in the account that has an address. */
  find(email: string, key: Pick<KeyReference, "kind" | "keyName">): SignerKey | undefined;
}

/**
 * Finds the keys that may sign for email addresses: trusted OpenPGP keys and SSH keys of the
 * accounts. Deploy keys sign for nobody.
 *
 * Cost: one round trip; for each account at most as many rows as requested keys.
 */
export async function findAccountKeys(
  ctx: Ctx,
  requested: readonly KeyReference[],
): Promise<AccountKeys> {
  const namesOf = (kind: KeyReference["kind"]): string[] =>
    requested.filter((key) => key.kind === kind).map(({ keyName }) => keyName);
  const emails = requested.map(({ email }) => email);
  const { accounts, openPgpKeys, sshKeys } = await batch(
    ctx.db,
    keysOf(ctx.db, {
      owners: toAddressQuery(ctx, emails),
      keyIds: namesOf("openpgp"),
      fingerprints: namesOf("ssh"),
    }),
  );
  const names = new Map(accounts.map(({ address, name }) => [address, name]));
  const keys = new Map<string, SignerKey>();
  for (const { address, fingerprint } of sshKeys) {
    keys.set(nameKey(address, { kind: "ssh", keyName: fingerprint }), { kind: "ssh" });
  }
  for (const { address, keyId, isPrimaryRevoked, primaryExpiresAt, ...key } of openPgpKeys) {
    const ends = [key.expiresAt, primaryExpiresAt].filter((end) => end !== null);
    keys.set(nameKey(address, { kind: "openpgp", keyName: keyId }), {
      kind: "openpgp",
      publicKey: key.publicKey,
      canSign: key.canSign,
      isRevoked: key.isRevoked || isPrimaryRevoked === 1,
      expiresAt: ends.length > 0 ? Math.min(...ends) : null,
    });
  }
  return {
    findName: (email) => names.get(email.toLowerCase()),
    find: (email, key) => keys.get(nameKey(email.toLowerCase(), key)),
  };
}

interface KeyLookup {
  readonly owners: AddressQuery;
  readonly keyIds: readonly string[];
  readonly fingerprints: readonly string[];
}

const keysOf = prepareAll((db, given: Params<KeyLookup>) => {
  const owners = selectOwners(db, given.owners);
  const primary = alias(gpgKeys, "primaries");
  return {
    accounts: db
      .select({ address: owners.address, name: users.name })
      .from(owners)
      .innerJoin(users, eq(users.id, owners.userId)),
    openPgpKeys: db
      .select({
        address: owners.address,
        keyId: gpgKeys.keyId,
        publicKey: gpgKeys.publicKey,
        canSign: gpgKeys.canSign,
        isRevoked: gpgKeys.isRevoked,
        expiresAt: gpgKeys.expiresAt,
        isPrimaryRevoked: sql<number | null>`${primary.isRevoked}`.as("is_primary_revoked"),
        primaryExpiresAt: sql<number | null>`${primary.expiresAt}`.as("primary_expires_at"),
      })
      .from(owners)
      .innerJoin(gpgKeys, eq(gpgKeys.userId, owners.userId))
      .leftJoin(
        primary,
        and(eq(primary.userId, gpgKeys.userId), eq(primary.keyId, gpgKeys.primaryKeyId)),
      )
      .where(and(inArray(gpgKeys.keyId, given.keyIds), isTrusted(gpgKeys))),
    sshKeys: db
      .select({ address: owners.address, fingerprint: publicKeys.fingerprint })
      .from(owners)
      .innerJoin(publicKeys, eq(publicKeys.userId, owners.userId))
      .where(and(inArray(publicKeys.fingerprint, given.fingerprints), isNull(publicKeys.repoId))),
  };
});

const nameKey = (
  address: string,
  { kind, keyName }: Pick<KeyReference, "kind" | "keyName">,
): string => `${kind} ${keyName} ${address}`;
