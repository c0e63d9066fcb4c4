import { and, eq } from "drizzle-orm";

import { seal, unseal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  packageRegistries,
  type PackageRegistry,
  type PackageType,
} from "../../../db/schema/index.ts";
import { forbidden } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import type { PackageOwner } from "./find-package.ts";

/** The OpenPGP key of a format and owner, by which its indexes are signed. */
export interface RegistryKey {
  /** Armored. */
  readonly publicKey: string;
  /** Armored, without a passphrase. */
  readonly privateKey: string;
}

/**
 * SECURITY: a key can't be moved to another owner or format: the sealed text opens for this purpose
 * alone.
 */
const purposeOf = ({ ownerId, type }: PackageRegistry): string =>
  `package signing key ${ownerId} ${type}`;

/**
 * Returns the key of a registry; makes it if there is none.
 *
 * @throws Failure `forbidden` where the service has no key to seal it, or none that opens it.
 */
export async function findRegistryKey(
  ctx: Ctx,
  owner: PackageOwner,
  registry: PackageRegistry,
): Promise<RegistryKey> {
  if (registry.sealedKey !== "") return openKey(ctx, registry);
  const made = await makeKey(ctx, owner, registry);
  const { ownerId, type } = registry;
  const { registries } = await batch(ctx.db, {
    key: keepKey(ctx.db, { ownerId, type, ...made }),
    registries: registryOf(ctx.db, { ownerId, type }),
  });
  return openKey(ctx, only(registries));
}

interface RegistryName {
  readonly ownerId: number;
  readonly type: PackageType;
}

interface KeyOfRegistry extends RegistryName {
  readonly publicKey: string;
  readonly sealedKey: string;
}

/** Keeps a key. Of two requests that make one at once, the first one's stays. */
const keepKey = prepare((db, { ownerId, type, publicKey, sealedKey }: Params<KeyOfRegistry>) =>
  db
    .insert(packageRegistries)
    .values({ ownerId, type, publicKey, sealedKey })
    .onConflictDoUpdate({
      target: [packageRegistries.ownerId, packageRegistries.type],
      set: { publicKey, sealedKey },
      setWhere: eq(packageRegistries.sealedKey, ""),
    }),
);

const registryOf = prepare((db, { ownerId, type }: Params<RegistryName>) =>
  db
    .select()
    .from(packageRegistries)
    .where(and(eq(packageRegistries.ownerId, ownerId), eq(packageRegistries.type, type))),
);

async function makeKey({ config, now }: Ctx, { account }: PackageOwner, registry: PackageRegistry) {
  const { generateKey } = await import("openpgp");
  const { publicKey, privateKey } = await generateKey({
    type: "ecc",
    curve: "ed25519Legacy",
    userIDs: [{ name: `${config.appName} packages of ${account.name}`, comment: registry.type }],
    format: "armored",
    date: new Date(now),
  });
  return { publicKey, sealedKey: await seal(config.sealingKeys, privateKey, purposeOf(registry)) };
}

async function openKey({ config }: Ctx, registry: PackageRegistry): Promise<RegistryKey> {
  const opened = await unseal(config.sealingKeys, registry.sealedKey, purposeOf(registry));
  if (opened.kind !== "open") {
    throw forbidden("the registry's signing key can't be opened: its sealing key is missing");
  }
  return { publicKey: registry.publicKey, privateKey: opened.text };
}

/** A signature over a text: armored and on its own, or around the text. */
export type SignatureForm = "detached" | "clear";

/**
 * Signs a text by a registry's key.
 *
 * @param at When it is dated, in milliseconds; not before the key itself.
 */
export async function signIndex(
  { privateKey: armoredKey }: RegistryKey,
  text: string,
  form: SignatureForm,
  at: number,
): Promise<string> {
  const { createCleartextMessage, createMessage, readPrivateKey, sign } = await import("openpgp");
  const signingKeys = await readPrivateKey({ armoredKey });
  const date = new Date(Math.max(at, signingKeys.getCreationTime().getTime()));
  if (form === "clear") {
    return sign({ message: await createCleartextMessage({ text }), signingKeys, date });
  }
  const message = await createMessage({ binary: new TextEncoder().encode(text) });
  return sign({ message, signingKeys, detached: true, format: "armored", date });
}
