import type { Context } from "hono";
import { z } from "zod";

import type { Credential } from "../../auth/credential.ts";
import { seal, unseal } from "../../auth/seal.ts";
import { TransferCredential, transferCredential } from "../../auth/transfer-credential.ts";
import type { Ctx } from "../../context.ts";
import { LFS_UPLOAD_LIFE_MS } from "../../domain/code/lfs/store-object.ts";
import { type Failure, unauthenticated } from "../../lib/failure.ts";
import type { GitHttpEnv } from "../env.ts";

/**
 * The header of a transfer token. Not `Authorization`: a client that is configured to send that
 * header itself, as CI systems do by git's `http.extraHeader`, would send two. Not the URL: every
 * hop logs URLs.
 */
export const TOKEN_HEADER = "X-LFS-Transfer-Token";

/** The purpose for which tokens are sealed. */
const PURPOSE = "lfs transfer";

const Claims = z.object({
  operation: z.enum(["download", "upload", "verify"]),
  repoId: z.number(),
  oid: z.string(),
  credential: TransferCredential,
  /** In milliseconds. */
  expiresAt: z.number(),
});

/** The transfer of one file, as a batch allows it. */
export type Transfer = Pick<z.infer<typeof Claims>, "operation" | "repoId" | "oid">;

/**
 * How long a client may wait before it begins a transfer, in milliseconds. It asks for a new batch
 * afterwards.
 */
const BEGIN_MS = 15 * 60 * 1000;
/** A file is verified after its upload, which may take this long. */
const LIFE_MS = { download: BEGIN_MS, upload: BEGIN_MS, verify: BEGIN_MS + LFS_UPLOAD_LIFE_MS };

/** A token, and for how long it is valid. */
export interface TransferToken {
  text: string;
  lifeSeconds: number;
}

/**
 * Makes the token for one transfer by the caller of a request. It grants what the caller may do
 * when it is used: it ends with the caller's access token or password, their permission, and their
 * account.
 *
 * @returns Undefined for an anonymous caller, and where the service has no key: the client uses its
 *   own credential.
 */
export async function makeTransferToken(
  { actor, config, now }: Ctx,
  transfer: Transfer,
): Promise<TransferToken | undefined> {
  if (!actor.user || config.sealingKeys.length === 0) return undefined;
  const lifeMs = LIFE_MS[transfer.operation];
  const credential = await transferCredential(actor, actor.user);
  const claims = { ...transfer, credential, expiresAt: now + lifeMs };
  const text = await seal(config.sealingKeys, JSON.stringify(claims), PURPOSE);
  return { text, lifeSeconds: lifeMs / 1000 };
}

/**
 * Reads the transfer token of a request.
 *
 * @returns The credential for it, and the repository that it is for; undefined if the request has
 *   no token.
 * @throws Failure `unauthenticated` for a token that is damaged, has expired or is for another
 *   transfer.
 */
export async function readTransferToken(
  c: Context<GitHttpEnv>,
  { operation, oid }: Omit<Transfer, "repoId">,
): Promise<{ credential: Credential; repoId: number } | undefined> {
  const text = c.req.header(TOKEN_HEADER);
  if (text === undefined) return undefined;
  const { config, now } = c.var.base;
  const unsealed = await unseal(config.sealingKeys, text, PURPOSE);
  if (unsealed.kind !== "open") throw unauthenticated("the transfer token is not valid");
  const claims = Claims.parse(JSON.parse(unsealed.text));
  if (claims.expiresAt <= now) {
    throw unauthenticated("the transfer token has expired: request the batch again");
  }
  if (claims.operation !== operation || claims.oid !== oid) throw otherTransfer();
  const { credential, repoId } = claims;
  return { credential, repoId };
}

export const otherTransfer = (): Failure =>
  unauthenticated("the transfer token is for another transfer");
