import type { Ctx } from "../../context.ts";
import type { ByteText } from "../../git/byte-text.ts";
import { type Commit, formatCommit } from "../../git/object/commit.ts";
import { type SigningContext, signAsService } from "../signatures/sign-as-service.ts";

/**
 * The bytes of a commit that the service makes for somebody. Every such commit is made here.
 *
 * It is signed where the configuration says so, and author and committer are the people who are behind
 * it: the caller, if nothing is said of them.
 *
 * @returns Its content, ready to be stored.
 */
export async function makeCommit(
  ctx: Ctx,
  commit: Omit<Commit, "headers">,
  {
    operation = "change",
    people = ctx.actor.user ? [ctx.actor.user] : [],
  }: Partial<SigningContext> = {},
): Promise<Uint8Array> {
  const plain = formatCommit({ ...commit, headers: [] });
  const identities = [commit.author, commit.committer];
  const value = await signAsService(ctx, plain, { operation, people, identities });
  if (value === undefined) return plain;
  return formatCommit({ ...commit, headers: [{ name: "gpgsig" as ByteText, value }] });
}
