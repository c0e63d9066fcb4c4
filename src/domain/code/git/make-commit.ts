import type { Ctx } from "../../../context.ts";
import type { ByteText } from "../../../git/byte-text.ts";
import { type Commit, formatCommit } from "../../../git/object/commit.ts";
import { type SigningContext, signAsService } from "../signatures/sign-as-service.ts";

/**
 * Formats a commit that the service creates on behalf of users. All such commits are created here.
 *
 * The commit is signed if the configuration requires it and author and committer belong to
 * `people`, which defaults to the caller.
 *
 * @returns The commit's content, ready to be stored.
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
