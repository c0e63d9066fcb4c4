import type { Context } from "hono";

import type { User } from "../../db/schema/index.ts";
import { enterPush } from "../../entrance/enter-push.ts";
import { enterRepository, type RequestContext } from "../../entrance/enter-repository.ts";
import { unauthenticated } from "../../lib/failure.ts";
import { lfsIncoming, SIGN_IN } from "../door.ts";
import type { GitHttpEnv } from "../env.ts";
import { toRead, toStore, toWrite } from "../target.ts";
import { otherTransfer, readTransferToken, type Transfer } from "./transfer-token.ts";

/** The context of a request by a signed-in user. */
export interface UserRequestContext extends RequestContext {
  user: User;
}

/** Enters to read. */
export const enterToRead = (c: Context<GitHttpEnv>): Promise<RequestContext> =>
  enterRepository(lfsIncoming(c), toRead(c));

/** Enters to read, as a signed-in user. */
export const enterSignedIn = (c: Context<GitHttpEnv>): Promise<UserRequestContext> =>
  asUser(enterRepository(lfsIncoming(c), { ...toRead(c), anonymous: "never" }));

/** Enters to write, as a signed-in user. */
export const enterToWrite = (c: Context<GitHttpEnv>): Promise<UserRequestContext> =>
  asUser(enterRepository(lfsIncoming(c), toWrite(c)));

/** Enters to write, and creates a missing repository as a push does. */
export const enterToPush = (c: Context<GitHttpEnv>): Promise<UserRequestContext> =>
  asUser(enterPush(lfsIncoming(c), toStore(c)));

async function asUser(entering: Promise<RequestContext>): Promise<UserRequestContext> {
  const context = await entering;
  const { user } = context.ctx.actor;
  if (!user) throw unauthenticated(SIGN_IN);
  return { ...context, user };
}

/**
 * Authorizes the transfer of one file: by the token that the batch gave out for it, or else like
 * any other request.
 *
 * A client may send its own credential beside the token, which is not looked at then.
 *
 * @throws Failure `unauthenticated` for a token that has expired or is for another transfer.
 */
export async function enterTransfer(
  c: Context<GitHttpEnv>,
  transfer: Omit<Transfer, "repoId">,
): Promise<RequestContext> {
  const token = await readTransferToken(c, transfer);
  const { ctx, repo } = await enterRepository(
    { ...lfsIncoming(c), credential: token?.credential },
    transfer.operation === "download" ? toRead(c) : toWrite(c),
  );
  if (token && token.repoId !== repo.row.id) throw otherTransfer();
  return { ctx, repo };
}
