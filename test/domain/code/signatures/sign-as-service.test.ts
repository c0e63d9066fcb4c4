import { describe, expect, it } from "vitest";

import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import { parseConfig } from "../../../../src/config.ts";
import type { Ctx } from "../../../../src/context.ts";
import { makeCommit } from "../../../../src/domain/code/git/make-commit.ts";
import { toIdentity } from "../../../../src/domain/people/accounts/git-identity.ts";
import { encodeText } from "../../../../src/git/byte-text.ts";
import { splitSignature } from "../../../../src/git/object/commit.ts";
import type { Identity } from "../../../../src/git/object/identity.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { makeSshSigningKey } from "../../../support/signing-keys.ts";
import { systemCtx } from "../../../support/system.ts";

async function ctxOf(user: TestUser, vars: Record<string, string> = {}): Promise<Ctx> {
  const { armored } = await makeSshSigningKey();
  return {
    ...systemCtx({}, Date.now()),
    config: parseConfig({ SIGNING_KEY: armored, ...vars }),
    publicUrl: "https://forge.example",
    actor: { ...ANONYMOUS, user },
  };
}

const commit = (author: Identity, committer: Identity) => ({
  treeOid: "1".repeat(40),
  parentOids: [],
  author,
  committer,
  message: encodeText("Change\n"),
});

describe("a commit that the service creates", () => {
  it("is signed, and otherwise equal to the unsigned one", async () => {
    const user = await make.user();
    const ctx = await ctxOf(user);
    const fields = commit(toIdentity(ctx, user), toIdentity(ctx, user));
    const split = splitSignature(await makeCommit(ctx, fields));
    expect(split?.signature).toMatch(
      /^-----BEGIN SSH SIGNATURE-----\n[^]+\n-----END SSH SIGNATURE-----$/,
    );
    const unsigned = await makeCommit({ ...ctx, config: parseConfig({}) }, fields);
    expect(split?.signed).toEqual(unsigned);
    const silent = await ctxOf(user, { SIGNING_CRUD_ACTIONS: "false" });
    expect(await makeCommit(silent, fields)).toEqual(unsigned);
  });

  // A caller may name any author: the service's signature would confirm that identity.
  it("is not signed with the identity of somebody other than the caller", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const ctx = await ctxOf(user);
    const [own, theirs] = [toIdentity(ctx, user), toIdentity(ctx, other)];
    const isSigned = async (author: Identity, committer: Identity, people?: TestUser[]) =>
      splitSignature(await makeCommit(ctx, commit(author, committer), people && { people })) !==
      undefined;

    expect(await isSigned(theirs, own)).toBe(false);
    expect(await isSigned(own, theirs)).toBe(false);
    expect(await isSigned(theirs, own, [user, other])).toBe(true);
    expect(await isSigned(own, own, [])).toBe(false);
    const email = encodeText(user.email.toUpperCase());
    const noReply = encodeText(`${user.name}@noreply.forge.example`);
    expect(await isSigned({ ...own, email }, { ...own, email: noReply })).toBe(true);
    const anonymous = { ...ctx, actor: ANONYMOUS };
    expect(splitSignature(await makeCommit(anonymous, commit(own, own)))).toBeUndefined();
  });
});
