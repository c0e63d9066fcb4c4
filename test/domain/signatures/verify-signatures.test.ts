import { describe, expect, it } from "vitest";

import { verifySignatures } from "../../../src/domain/signatures/verify-signatures.ts";
import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { parseCommit, splitSignature } from "../../../src/git/object/commit.ts";
import { only } from "../../../src/lib/only.ts";
import { db } from "../../support/db.ts";
import { publicKeys } from "../../../src/db/schema/index.ts";
import { makeSshKey } from "../../support/keys.ts";
import { make } from "../../support/make.ts";
import { signatureHeader } from "../../support/signed.ts";
import { systemCtx } from "../../support/system.ts";

/**
 * Signs a commit well and judges what `store` makes of it, whatever of that a push would refuse.
 *
 * @param change What is signed, made of a plain commit.
 */
async function judge(
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
  const ctx = { ...systemCtx({}, Date.now()), rootUrl: "https://forge.example" };
  const judged = await verifySignatures(ctx, [{ email, split: splitSignature(stored) }]);
  return only(judged).verification;
}

const asGit = (content: string, header: string): string => content.replace("\n\n", `\n${header}\n`);

describe("what is verified is what is shown", () => {
  const elsewhere = `tree ${"2".repeat(40)}`;
  const evil = "committer Somebody <evil@example.com> 1700000000 +0000";

  // Each takes a commit that was signed well and stores it with something else to be seen.
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
  ])("never with %s", async (_, store) => {
    const { isVerified, signer } = await judge(store);
    expect(isVerified).toBe(false);
    expect(signer).toBeUndefined();
  });

  it("and well with what git makes", async () => {
    expect(await judge(asGit)).toMatchObject({ isVerified: true });
  });

  // Neither is shown, and git leaves both out of what it checks.
  it("and well beside a signature for another hash", async () => {
    const other = signatureHeader("x\ny").replace("gpgsig", "gpgsig-sha256");
    const store = (content: string, header: string) => asGit(content, `${other}${header}`);
    expect(await judge(store)).toMatchObject({ isVerified: true });
  });

  it.each([
    ["in another encoding", (content: string) => asGit(content, "encoding latin1\n")],
    ["with a mergetag", (content: string) => asGit(content, "mergetag object x\n type y\n \n z\n")],
    ["with a NUL", (content: string) => `${content}\0more`],
  ])("and well what is signed %s", async (_, change) => {
    expect(await judge(asGit, change)).toMatchObject({ isVerified: true });
  });
});
