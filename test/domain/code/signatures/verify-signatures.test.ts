import { describe, expect, it } from "vitest";

import { verifySignatures } from "../../../../src/domain/code/signatures/verify-signatures.ts";
import { encodeUtf8 } from "../../../../src/git/byte-text.ts";
import { parseCommit, splitSignature } from "../../../../src/git/object/commit.ts";
import { only } from "../../../../src/lib/only.ts";
import { db } from "../../../support/db.ts";
import { publicKeys } from "../../../../src/db/schema/index.ts";
import { makeSshKey } from "../../../support/keys.ts";
import { make } from "../../../support/make.ts";
import { signatureHeader } from "../../../support/signed.ts";
import { systemCtx } from "../../../support/system.ts";

/**
 * Signs a valid commit, stores it as changed by `store`, and returns its verification. A push would
 * refuse some of these commits.
 *
 * @param change Changes the plain commit before it is signed.
 */
async function verifyStored(
  store: (content: string, header: string) => string,
  change: (content: string) => string = (content) => content,
) {
  const user = await make.user();
  const key = makeSshKey();
  const { line: content, fingerprint } = key;
  await db
    .insert(publicKeys)
    .values({ userId: user.id, title: "laptop", content, fingerprint, createdAt: 1 });
  const who = `Somebody <${user.email}> 1700000000 +0000`;
  const signed = change(`tree ${"1".repeat(40)}\nauthor ${who}\ncommitter ${who}\n\nChange\n`);
  const header = signatureHeader((await key.sign(encodeUtf8(signed))).trimEnd());
  const stored = encodeUtf8(store(signed, header));
  const { email } = parseCommit(stored).committer;
  const ctx = { ...systemCtx({}, Date.now()), publicUrl: "https://forge.example" };
  const verified = await verifySignatures(ctx, [{ email, split: splitSignature(stored) }]);
  return only(verified).verification;
}

const asGit = (content: string, header: string): string => content.replace("\n\n", `\n${header}\n`);

describe("the verified content is the displayed content", () => {
  const elsewhere = `tree ${"2".repeat(40)}`;
  const evil = "committer Somebody <evil@example.com> 1700000000 +0000";

  // Each row stores a validly signed commit with a change to its displayed content.
  it.each<[string, (content: string, header: string) => string]>([
    ["another message", (content, header) => asGit(content, header).replace("Change", "Chance")],
    ["a longer message", (content, header) => `${asGit(content, header)}\n`],
    ["a NUL and more behind it", (content, header) => `${asGit(content, header)}\0more`],
    ["another tree", (content, header) => asGit(content, header).replace(/tree \w+/, elsewhere)],
    [
      "a parent",
      (content, header) =>
        asGit(content, header).replace("\nauthor", `\nparent ${"1".repeat(40)}\nauthor`),
    ],
    ["another author", (content, header) => asGit(content, header).replace("author S", "author T")],
    ["another zone", (content, header) => asGit(content, header).replace(" +0000\nc", " +0100\nc")],
    ["an encoding", (content, header) => asGit(content, `encoding latin1\n${header}`)],
    ["an encoding behind it", (content, header) => asGit(content, `${header}encoding latin1\n`)],
    ["a second committer", (content, header) => asGit(content, `${evil}\n${header}`)],
    [
      "a first committer",
      (content, header) => asGit(content, header).replace("\ncommitter", `\n${evil}\ncommitter`),
    ],
    [
      "the signature inside the author",
      (content, header) => content.replace("\ncommitter", `\n${header}committer`),
    ],
    [
      "the signature before the parents",
      (content, header) => content.replace("\nauthor", `\n${header}author`),
    ],
    ["the signature in the message", (content, header) => `${content}${header}`],
    ["two signatures", (content, header) => asGit(content, `${header}${header}`)],
    [
      "a mergetag",
      (content, header) => asGit(content, `mergetag object x\n type commit\n${header}`),
    ],
  ])("refuses the signature with %s", async (_, store) => {
    const { isVerified, signer } = await verifyStored(store);
    expect(isVerified).toBe(false);
    expect(signer).toBeUndefined();
  });

  it("accepts the commit as git stores it", async () => {
    expect(await verifyStored(asGit)).toMatchObject({ isVerified: true });
  });

  // Neither header is displayed, and git excludes both from the signed content.
  it("accepts it next to a signature for another hash algorithm", async () => {
    const other = signatureHeader("x\ny").replace("gpgsig", "gpgsig-sha256");
    const store = (content: string, header: string) => asGit(content, `${other}${header}`);
    expect(await verifyStored(store)).toMatchObject({ isVerified: true });
  });

  it.each([
    ["in another encoding", (content: string) => asGit(content, "encoding latin1\n")],
    ["with a mergetag", (content: string) => asGit(content, "mergetag object x\n type y\n \n z\n")],
    ["with a NUL", (content: string) => `${content}\0more`],
  ])("accepts a commit signed %s", async (_, change) => {
    expect(await verifyStored(asGit, change)).toMatchObject({ isVerified: true });
  });
});
