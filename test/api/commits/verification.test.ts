import { eq } from "drizzle-orm";
import { enums, type SignaturePacket } from "openpgp";
import { describe, expect, it } from "vitest";

import { emailAddresses, gpgKeys } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import {
  armorSignatures,
  makeOldGpgKey,
  makeSshKey,
  signBytes,
  signText,
  signWith,
  type TestGpgKey,
} from "../../support/keys.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { storePush } from "../../support/push.ts";
import { serviceWith } from "../../support/service.ts";
import { makeSignedCommit, type Signer } from "../../support/signed.ts";
import { logged } from "../../support/usage.ts";

interface Stored {
  oid: string;
  pack: Uint8Array;
}

/** What the API says of a commit's signature. */
async function verificationOf(repo: TestRepo, { oid }: { oid: string }, as?: TestUser) {
  const path = `/repos/${repo.owner}/${repo.name}/git/commits/${oid}?stat=false&files=false`;
  const { status, body } = await call("GET", path, as && { as });
  if (status !== 200) throw new Error(`the commit was answered ${status}`);
  return body.commit.verification;
}

/** Stores a commit in a public repository of its own, and tells what anybody is told of it. */
async function judge(made: Stored, as?: TestUser) {
  const repo = await make.repo(await make.user());
  await storePush(repo, "refs/heads/main", made.oid, made.pack);
  return { repo, verification: await verificationOf(repo, made, as) };
}

/** A commit by a user's address. */
const commitBy = (user: { email: string }, sign: Signer, rest: object = {}) =>
  makeSignedCommit({ committer: `Somebody <${user.email}>`, sign, ...rest });

async function addGpgKey(user: TestUser, key: Pick<TestGpgKey, "armored">): Promise<number> {
  const json = { armored_public_key: key.armored };
  const { status, body } = await call("POST", "/user/gpg_keys", { as: user, json });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

async function addSshKey(user: TestUser, key: { line: string }): Promise<number> {
  const json = { title: freshName("key"), key: key.line };
  const { status, body } = await call("POST", "/user/keys", { as: user, json });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** A user with an OpenPGP key, made some time before the commits of these tests. */
async function makeSigner(options: Parameters<typeof makeOldGpgKey>[1] = {}) {
  const user = await make.user();
  const key = await makeOldGpgKey(user.email, options);
  const id = await addGpgKey(user, key);
  return { user, key, id, sign: (bytes: Uint8Array) => signBytes(key, bytes) };
}

const refused = (reason: string) => ({
  verified: false,
  reason: `gpg.error.${reason}`,
  signer: null,
});
const BAD = refused("probable_bad_signature");
const UNREADABLE = refused("extract_sign");

/** Signs with a packet made otherwise than gpg would. */
const signed =
  (key: TestGpgKey, ...options: NonNullable<Parameters<typeof signWith>[2]>[]): Signer =>
  async (bytes) => {
    const packets: SignaturePacket[] = [];
    for (const each of options) packets.push(await signWith(key, bytes, each));
    return armorSignatures(...packets);
  };

describe("verification of a commit", () => {
  it("names the account and the OpenPGP key, and tells what is signed", async () => {
    const { user, key, sign } = await makeSigner();
    const made = await commitBy(user, sign);
    expect((await judge(made)).verification).toEqual({
      verified: true,
      reason: `${user.name} / ${key.keyId}`,
      signature: made.signature,
      payload: made.content,
      signer: { name: user.name, email: user.email, username: "" },
    });
  });

  it("names the account and the SSH key", async () => {
    const user = await make.user();
    const key = makeSshKey();
    await addSshKey(user, key);
    const made = await commitBy(user, key.sign);
    expect((await judge(made)).verification).toEqual({
      verified: true,
      reason: `${user.name} / ${key.fingerprint}`,
      signature: made.signature,
      payload: made.content,
      signer: { name: user.name, email: user.email, username: "" },
    });
  });

  it("names the subkey that signed", async () => {
    const { user, key } = await makeSigner({ subkeys: [{ sign: true }] });
    const { verification } = await judge(await commitBy(user, signed(key, { subkey: 0 })));
    const keyId = key.privateKey.subkeys[0]?.getKeyID().toHex().toUpperCase();
    expect(verification).toMatchObject({ verified: true, reason: `${user.name} / ${keyId}` });
  });

  it("knows addresses whatever their case, further ones, and those of the service's own", async () => {
    const { user, key, sign } = await makeSigner();
    const email = `${freshName("further")}@example.com`;
    await call("POST", "/user/emails", { as: user, json: { emails: [email] } });
    for (const each of [
      user.email.toUpperCase(),
      email,
      `${user.name.toLowerCase()}@noreply.forge.example`,
    ]) {
      const { verification } = await judge(await commitBy({ email: each }, sign));
      expect(verification).toMatchObject({ verified: true, reason: `${user.name} / ${key.keyId}` });
      expect(verification.signer.email).toBe(each);
    }
  });

  it("says that nothing is signed", async () => {
    const user = await make.user();
    const store = (content: string) => content;
    const made = await commitBy(user, () => Promise.resolve(""), { store });
    expect((await judge(made)).verification).toEqual({
      ...refused("not_signed_commit"),
      signature: "",
      payload: "",
    });
  });

  it("takes a key for nobody else's", async () => {
    const { sign, user } = await makeSigner();
    const ssh = makeSshKey();
    await addSshKey(user, ssh);
    const other = await make.user();
    const nobody = { email: `${freshName("nobody")}@example.com` };
    for (const each of [sign, ssh.sign]) {
      const theirs = (await judge(await commitBy(other, each))).verification;
      expect(theirs).toMatchObject(refused("no_gpg_keys_found"));
      const nobodys = (await judge(await commitBy(nobody, each))).verification;
      expect(nobodys).toMatchObject(refused("no_committer_account"));
    }
  });

  // The author is whoever the committer says.
  it("asks the committer's address, not the author's", async () => {
    const { user, sign } = await makeSigner();
    const other = await make.user();
    const swap = (content: string, header: string) =>
      content.replace("\n\n", `\n${header}\n`).replace(/author \S+ <[^>]+>/, "author S <x@y.z>");
    const asSigned = (bytes: Uint8Array) =>
      sign(
        new TextEncoder().encode(
          swap(new TextDecoder().decode(bytes), "").replace("\n\n\n", "\n\n"),
        ),
      );
    const byUser = await judge(await commitBy(user, asSigned, { store: swap }));
    expect(byUser.verification).toMatchObject({ verified: true });
    const byOther = await judge(await commitBy(other, sign));
    expect(byOther.verification).toMatchObject(refused("no_gpg_keys_found"));
  });

  it("goes when the key goes, and when the address does", async () => {
    const { user, id, sign } = await makeSigner();
    const email = `${freshName("further")}@example.com`;
    const ssh = makeSshKey();
    const sshId = await addSshKey(user, ssh);
    await call("POST", "/user/emails", { as: user, json: { emails: [email] } });
    const byGpg = await judge(await commitBy({ email }, sign));
    const bySsh = await judge(await commitBy({ email }, ssh.sign));
    expect([byGpg.verification.verified, bySsh.verification.verified]).toEqual([true, true]);
    const again = async ({ repo }: { repo: TestRepo }) => {
      const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/branches/main`);
      return body.commit.verification;
    };

    await call("DELETE", `/user/gpg_keys/${id}`, { as: user });
    expect(await again(byGpg)).toMatchObject(refused("no_gpg_keys_found"));
    expect(await again(bySsh)).toMatchObject({ verified: true });
    await call("DELETE", `/user/keys/${sshId}`, { as: user });
    expect(await again(bySsh)).toMatchObject(refused("no_gpg_keys_found"));
    await call("DELETE", "/user/emails", { as: user, json: { emails: [email] } });
    expect(await again(bySsh)).toMatchObject(refused("no_committer_account"));
  });

  it("takes no address that its account has not confirmed", async () => {
    const { user, sign } = await makeSigner();
    const made = await commitBy(user, sign);
    await db
      .update(emailAddresses)
      .set({ isActivated: false })
      .where(eq(emailAddresses.userId, user.id));
    expect((await judge(made)).verification).toMatchObject(refused("no_committer_account"));
  });

  // What the caller may not see does not exist, and a commit must not tell whose address it names.
  it.each([
    ["of an account that the caller may not see", { visibility: "private" as const }],
    ["that its account hides", { isEmailHidden: true }],
  ])("finds nobody by an address %s", async (_, fields) => {
    const user = await make.user(fields);
    const key = await makeOldGpgKey(user.email);
    await addGpgKey(user, key);
    const made = await commitBy(user, (bytes) => signBytes(key, bytes));
    const { repo, verification } = await judge(made);
    expect(verification).toMatchObject(refused("no_committer_account"));
    expect(await verificationOf(repo, made, await make.user())).toEqual(verification);
    expect(await verificationOf(repo, made, user)).toMatchObject({ verified: true });
  });

  // Else whoever adds it to their account would be taken for the one whose name it has.
  it("leaves an address of the service's own to the account that it names", async () => {
    const { user, sign } = await makeSigner();
    const other = await make.user();
    const email = `${other.name}@noreply.forge.example`;
    await call("POST", "/user/emails", { as: user, json: { emails: [email] } });
    const { verification } = await judge(await commitBy({ email }, sign));
    expect(verification).toMatchObject(refused("no_gpg_keys_found"));
  });
});

describe("verification by an OpenPGP key", () => {
  it("counts a key that names no address of the account once it is proven", async () => {
    const user = await make.user();
    const key = await makeOldGpgKey(`${freshName("elsewhere")}@example.com`);
    await addGpgKey(user, key);
    const { repo, verification } = await judge(
      await commitBy(user, (bytes) => signBytes(key, bytes)),
    );
    expect(verification).toMatchObject(refused("no_gpg_keys_found"));

    const { body: token } = await call("GET", "/user/gpg_key_token", { as: user });
    const json = { key_id: key.keyId, armored_signature: await signText(key, token) };
    await call("POST", "/user/gpg_key_verify", { as: user, json });
    const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/branches/main`);
    expect(body.commit.verification).toMatchObject({ verified: true });
  });

  it("judges a key at the time of the signature", async () => {
    const { user, key } = await makeSigner({
      lifetimeSeconds: 30 * 86_400,
      subkeys: [{ sign: true }],
    });
    const before = { at: new Date("2023-11-20T00:00:00Z") };
    const after = { at: new Date("2023-12-20T00:00:00Z") };
    const early = { at: new Date("2023-10-20T00:00:00Z") };
    for (const subkey of [undefined, 0]) {
      const bySubkey = { subkey };
      for (const [at, expected] of [
        [before, { verified: true }],
        [after, BAD],
        [early, BAD],
      ] as const) {
        const made = await commitBy(user, signed(key, { ...bySubkey, ...at }));
        expect((await judge(made)).verification).toMatchObject(expected);
      }
    }
  });

  it("lets a subkey end with the key that it is of", async () => {
    const { user, key } = await makeSigner({
      lifetimeSeconds: 30 * 86_400,
      subkeys: [{ sign: true }],
    });
    await db.update(gpgKeys).set({ expiresAt: null }).where(eq(gpgKeys.primaryKeyId, key.keyId));
    const late = signed(key, { subkey: 0, at: new Date("2023-12-20T00:00:00Z") });
    expect((await judge(await commitBy(user, late))).verification).toMatchObject(BAD);
    const inTime = signed(key, { subkey: 0 });
    const { verification } = await judge(await commitBy(user, inTime));
    expect(verification).toMatchObject({ verified: true });
  });

  it("takes a signature for nothing after its own end", async () => {
    const { user, key } = await makeSigner();
    const made = await commitBy(user, signed(key, { lifetimeSeconds: 86_400 }));
    expect((await judge(made)).verification).toMatchObject(BAD);
  });

  it("trusts a signer's clock that is ahead", async () => {
    const { user, key } = await makeSigner();
    const made = await commitBy(user, signed(key, { at: new Date(Date.now() + 3_600_000) }));
    expect((await judge(made)).verification).toMatchObject({ verified: true });
  });

  // Whoever has found a key that its owner revoked can date what they sign.
  it.each([
    ["it", undefined],
    ["the key it is a subkey of", 0],
  ])("counts no key once %s is revoked", async (_, subkey) => {
    const { user, key } = await makeSigner({ subkeys: [{ sign: true }] });
    await db.update(gpgKeys).set({ isRevoked: true }).where(eq(gpgKeys.keyId, key.keyId));
    const made = await commitBy(user, signed(key, { subkey }));
    expect((await judge(made)).verification).toMatchObject(BAD);
  });

  it("counts no key that may not sign", async () => {
    const { user, key } = await makeSigner({ subkeys: [{ sign: true }] });
    await db.update(gpgKeys).set({ canSign: false }).where(eq(gpgKeys.keyId, key.keyId));
    const made = await commitBy(user, signed(key, {}));
    expect((await judge(made)).verification).toMatchObject(BAD);
    const bySubkey = await commitBy(user, signed(key, { subkey: 0 }));
    expect((await judge(bySubkey)).verification).toMatchObject({ verified: true });
  });

  it("says that a stored key can't be read", async () => {
    const { user, key, sign } = await makeSigner();
    const made = await commitBy(user, sign);
    for (const publicKey of ["", "AAAA", btoa("no packet")]) {
      await db.update(gpgKeys).set({ publicKey }).where(eq(gpgKeys.keyId, key.keyId));
      expect((await judge(made)).verification).toMatchObject(refused("failed_retrieval_gpg_keys"));
    }
  });

  it.each([
    ["MD5", enums.hash.md5],
    ["SHA-1", enums.hash.sha1],
    ["RIPEMD-160", enums.hash.ripemd],
  ])("trusts no hash that others can forge: %s", async (_, hash) => {
    const { user, key } = await makeSigner();
    const made = await commitBy(user, async (bytes) => {
      const packet = await signWith(key, bytes);
      packet.signatureData?.set([hash], 3); // behind version, type and algorithm
      return armorSignatures(packet);
    });
    expect((await judge(made)).verification).toMatchObject(refused("generate_hash"));
  });

  it("takes a signature over text only where it leaves no choice of line ends", async () => {
    const { user, key } = await makeSigner();
    const sign = signed(key, { type: enums.signature.text });
    expect((await judge(await commitBy(user, sign))).verification).toMatchObject({
      verified: true,
    });
    const message = "a\r\nb\n";
    const windows = await commitBy(user, sign, { message });
    expect((await judge(windows)).verification).toMatchObject(BAD);
    const exact = await commitBy(user, signed(key, {}), { message });
    expect((await judge(exact)).verification).toMatchObject({ verified: true });
  });

  it.each([
    ["two signatures of one key", (key: TestGpgKey) => signed(key, {}, {})],
    ["one about a key", (key: TestGpgKey) => signed(key, { type: enums.signature.standalone })],
    ["none at all", () => signed({} as TestGpgKey)],
    [
      "an X.509 signature",
      () => async () => "-----BEGIN SIGNED MESSAGE-----\nMIAG\n-----END SIGNED MESSAGE-----",
    ],
    [
      "a damaged one",
      (key: TestGpgKey) => async (bytes: Uint8Array) => (await signBytes(key, bytes)).slice(0, 150),
    ],
    ["no signature but a key", (key: TestGpgKey) => async () => key.armored],
    [
      "two blocks",
      (key: TestGpgKey) => async (bytes: Uint8Array) =>
        `${await signBytes(key, bytes)}${await signBytes(key, bytes)}`,
    ],
    [
      "what is far too long",
      (key: TestGpgKey) => async (bytes: Uint8Array) =>
        `${await signBytes(key, bytes)}${"x".repeat(20_000)}`,
    ],
  ])("can't read %s", async (_, makeSign) => {
    const { user, key } = await makeSigner();
    const made = await commitBy(user, makeSign(key));
    const { verification } = await judge(made);
    expect(verification).toMatchObject({ ...UNREADABLE, payload: made.content });
    expect(verification.signature).toBe(made.signature);
  });
});

describe("verification by an SSH key", () => {
  it("counts no key that opens a repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const key = makeSshKey();
    const json = { title: "deploy", key: key.line };
    await call("POST", `/repos/${repo.owner}/${repo.name}/keys`, { as: owner, json });
    const { verification } = await judge(await commitBy(owner, key.sign));
    expect(verification).toMatchObject(refused("no_gpg_keys_found"));
  });

  it("counts nothing that was signed for another purpose, or hashed otherwise", async () => {
    const user = await make.user();
    const key = makeSshKey();
    await addSshKey(user, key);
    const forFile = (bytes: Uint8Array) => key.sign(bytes, { namespace: "file" });
    expect((await judge(await commitBy(user, forFile))).verification).toMatchObject(UNREADABLE);
    const weak = (bytes: Uint8Array) => key.sign(bytes, { hashName: "sha1" });
    const { verification } = await judge(await commitBy(user, weak));
    expect(verification).toMatchObject(refused("generate_hash"));
  });

  it("suspects a signature that is not over these bytes", async () => {
    const user = await make.user();
    const key = makeSshKey();
    await addSshKey(user, key);
    const sign = () => key.sign(new TextEncoder().encode("something else"));
    expect((await judge(await commitBy(user, sign))).verification).toMatchObject(BAD);
  });
});

describe("what verification costs", () => {
  it("is one round for a page of commits, and nothing where it is not asked for", async () => {
    const { user, sign } = await makeSigner();
    const repo = await make.repo(user);
    const made = await commitBy(user, sign);
    await storePush(repo, "refs/heads/main", made.oid, made.pack);
    const path = `/repos/${repo.owner}/${repo.name}/commits?stat=false&files=false`;
    const asked = await logged(() => call("GET", path, { as: user }));
    expect(asked.answer.body[0].commit.verification.verified).toBe(true);
    expect(asked.line.d1Rounds).toBeLessThanOrEqual(2);
    const unasked = await logged(() => call("GET", `${path}&verification=false`, { as: user }));
    expect(unasked.answer.body[0].commit.verification).toBeNull();
    expect(unasked.line.d1Calls).toBe(asked.line.d1Calls - 1);
  });
  // Addresses and keys lead to accounts, never the other way round.
  it("reads no more rows when there are more accounts", async () => {
    const { user, sign } = await makeSigner();
    const { repo } = await judge(await commitBy(user, sign));
    const counting = serviceWith({ LOG_D1_ROWS: "true" });
    const rowsRead = async () => {
      const path = `/repos/${repo.owner}/${repo.name}/git/commits/main`;
      const { answer, line } = await logged(() => counting("GET", path, { as: user }));
      expect(answer.body.commit.verification.verified).toBe(true);
      return line.d1RowsRead;
    };
    const before = await rowsRead();
    for (let made = 0; made < 20; made++) await make.user();
    expect(await rowsRead()).toBe(before);
  });
});
