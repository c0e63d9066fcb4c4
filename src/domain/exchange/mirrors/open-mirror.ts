import { and, eq, type SQL, sql } from "drizzle-orm";

import { isGranted } from "../../../auth/access/grants.ts";
import { seal, unseal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { type pullMirrors, type pushMirrors, users } from "../../../db/schema/index.ts";
import { openRemote } from "../remotes/open-remote.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import type { RemoteRepository } from "../remotes/remote-repository.ts";

/** The purpose that the passwords of mirrors are sealed for. */
export const SEALED_FOR_MIRRORS = "mirror.password";

/** The columns of a mirror about its remote. */
interface RemoteColumns {
  readonly address: string;
  readonly username: string;
  readonly sealedPassword: string | null;
}

/** Seals a password of a mirror. @returns Null for none. */
export const sealMirrorPassword = async (
  { config }: Pick<Ctx, "config">,
  password: string,
): Promise<string | null> =>
  password === "" ? null : seal(config.sealingKeys, password, SEALED_FOR_MIRRORS);

/**
 * Opens the remote of a mirror.
 *
 * @throws RemoteFailure `unauthorized` if its password can't be unsealed any more.
 */
export async function openMirrorRemote(
  ctx: Ctx,
  { address, username, sealedPassword }: RemoteColumns,
): Promise<RemoteRepository> {
  let password = "";
  if (sealedPassword !== null) {
    const opened = await unseal(ctx.config.sealingKeys, sealedPassword, SEALED_FOR_MIRRORS);
    if (opened.kind !== "open") {
      const reason =
        opened.kind === "key_missing"
          ? "the service no longer has the key that sealed the mirror's password"
          : "the mirror's password can't be unsealed; set it again";
      throw new RemoteFailure("unauthorized", reason);
    }
    password = opened.text;
  }
  return openRemote(ctx, { url: address, username, password });
}

/**
 * Whether who set a mirror up may still administer its repository, as SQL over the mirror and
 * `repositories`.
 *
 * SECURITY: a mirror goes on without its maker's credential. Somebody who lost the repository must
 * not keep reading it, or writing to it, through an address of their own.
 */
export function isMirrorApproved({ approverId }: typeof pullMirrors | typeof pushMirrors): SQL {
  const isActive = and(
    eq(users.id, approverId),
    eq(users.isActive, true),
    eq(users.isLoginProhibited, false),
  );
  return sql`exists (
    select 1
    from ${users}
    where ${isActive}
      and (${users.isAdmin} or ${isGranted(sql`${approverId}`, { mode: "admin" })})
  )`;
}

export const NOT_APPROVED =
  "who set the mirror up may no longer administer the repository: an administrator has to synchronize it once";
