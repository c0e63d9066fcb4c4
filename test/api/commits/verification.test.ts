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
import { logged, roundsWithOverlap } from "../../support/usage.ts";

interface Stored {
  oid: string;
  pack: Uint8Array;
}

/** Reads the verification of a commit from the API. */
async function verificationOf(repo: TestRepo, { oid }: { oid: string }, as?: TestUser) {
  const path = `/repos/${repo.owner}/${repo.name}/git/commits/${oid}?stat=false&files=false`;
  const { status, body } = await call("GET", path, as && { as });
  if (status !== 200) throw new Error(`the commit was answered ${status}`);
  return body.commit.verification;
}

/** Stores a commit in a public repository of its own, and reads its verification. */
async function verify(made: Stored, as?: TestUser) {
  const repo = await make.repo(await make.user());
  await storePush(repo, "refs/heads/main", made.oid, made.pack);
  return { repo, verification: await verificationOf(repo, made, as) };
}

/** Makes a commit whose committer has a user's address. */
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

/** A user with an OpenPGP key that was created before the commits of these tests. */
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

/** Signs with packets that differ from those of gpg. */
const signed =
  (key: TestGpgKey, ...options: NonNullable<Parameters<typeof signWith>[2]>[]): Signer =>
  async (bytes) => {
    const packets: SignaturePacket[] = [];
    for (const each of options) packets.push(await signWith(key, bytes, each));
    return armorSignatures(...packets);
  };

describe("verification of a commit", () => {
  it("names the account and the OpenPGP key, and returns the signed payload", async () => {
    const { user, key, sign } = await makeSigner();
    const made = await commitBy(user, sign);
    expect((await verify(made)).verification).toEqual({
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
    expect((await verify(made)).verification).toEqual({
      verified: true,
      reason: `${user.name} / ${key.fingerprint}`,
      signature: made.signature,
      payload: made.content,
      signer: { name: user.name, email: user.email, username: "" },
    });
  });

  it("names the subkey that signed", async () => {
    const { user, key } = await makeSigner({ subkeys: [{ sign: true }] });
    const { verification } = await verify(await commitBy(user, signed(key, { subkey: 0 })));
    const keyId = key.privateKey.subkeys[0]?.getKeyID().toHex().toUpperCase();
    expect(verification).toMatchObject({ verified: true, reason: `${user.name} / ${keyId}` });
  });

  it("matches addresses case-insensitively, secondary ones, and no-reply addresses", async () => {
    const { user, key, sign } = await makeSigner();
    const email = `${freshName("further")}@example.com`;
    await call("POST", "/user/emails", { as: user, json: { emails: [email] } });
    for (const each of [
      user.email.toUpperCase(),
      email,
      `${user.name.toLowerCase()}@noreply.forge.example`,
    ]) {
      const { verification } = await verify(await commitBy({ email: each }, sign));
      expect(verification).toMatchObject({ verified: true, reason: `${user.name} / ${key.keyId}` });
      expect(verification.signer.email).toBe(each);
    }
  });

  it("reports an unsigned commit", async () => {
    const user = await make.user();
    const store = (content: string) => content;
    const made = await commitBy(user, () => Promise.resolve(""), { store });
    expect((await verify(made)).verification).toEqual({
      ...refused("not_signed_commit"),
      signature: "",
      payload: "",
    });
  });

  it("accepts a key for its owner's addresses only", async () => {
    const { sign, user } = await makeSigner();
    const ssh = makeSshKey();
    await addSshKey(user, ssh);
    const other = await make.user();
    const nobody = { email: `${freshName("nobody")}@example.com` };
    for (const each of [sign, ssh.sign]) {
      const theirs = (await verify(await commitBy(other, each))).verification;
      expect(theirs).toMatchObject(refused("no_gpg_keys_found"));
      const nobodys = (await verify(await commitBy(nobody, each))).verification;
      expect(nobodys).toMatchObject(refused("no_committer_account"));
    }
  });

  // The committer chooses the author freely.
  it("checks the committer's address, not the author's", async () => {
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
    const byUser = await verify(await commitBy(user, asSigned, { store: swap }));
    expect(byUser.verification).toMatchObject({ verified: true });
    const byOther = await verify(await commitBy(other, sign));
    expect(byOther.verification).toMatchObject(refused("no_gpg_keys_found"));
  });

  it("ends when the key or the address is deleted", async () => {
    const { user, id, sign } = await makeSigner();
    const email = `${freshName("further")}@example.com`;
    const ssh = makeSshKey();
    const sshId = await addSshKey(user, ssh);
    await call("POST", "/user/emails", { as: user, json: { emails: [email] } });
    const byGpg = await verify(await commitBy({ email }, sign));
    const bySsh = await verify(await commitBy({ email }, ssh.sign));
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

  it("ignores addresses that are not confirmed", async () => {
    const { user, sign } = await makeSigner();
    const made = await commitBy(user, sign);
    await db
      .update(emailAddresses)
      .set({ isActivated: false })
      .where(eq(emailAddresses.userId, user.id));
    expect((await verify(made)).verification).toMatchObject(refused("no_committer_account"));
  });

  // SECURITY: a commit must not reveal who owns an address.
  it.each([
    ["of an account invisible to the caller", { visibility: "private" as const }],
    ["hidden by its account", { isEmailHidden: true }],
  ])("finds no account by an address %s", async (_, fields) => {
    const user = await make.user(fields);
    const key = await makeOldGpgKey(user.email);
    await addGpgKey(user, key);
    const made = await commitBy(user, (bytes) => signBytes(key, bytes));
    const { repo, verification } = await verify(made);
    expect(verification).toMatchObject(refused("no_committer_account"));
    expect(await verificationOf(repo, made, await make.user())).toEqual(verification);
    expect(await verificationOf(repo, made, user)).toMatchObject({ verified: true });
  });

  // SECURITY: otherwise an account could add another account's no-reply address and impersonate it.
  it("assigns a no-reply address to the account that it names", async () => {
    const { user, sign } = await makeSigner();
    const other = await make.user();
    const email = `${other.name}@noreply.forge.example`;
    await call("POST", "/user/emails", { as: user, json: { emails: [email] } });
    const { verification } = await verify(await commitBy({ email }, sign));
    expect(verification).toMatchObject(refused("no_gpg_keys_found"));
  });
});

describe("verification by an OpenPGP key", () => {
  it("accepts a key without an address of the account after its ownership is verified", async () => {
    const user = await make.user();
    const key = await makeOldGpgKey(`${freshName("elsewhere")}@example.com`);
    await addGpgKey(user, key);
    const { repo, verification } = await verify(
      await commitBy(user, (bytes) => signBytes(key, bytes)),
    );
    expect(verification).toMatchObject(refused("no_gpg_keys_found"));

    const { body: token } = await call("GET", "/user/gpg_key_token", { as: user });
    const json = { key_id: key.keyId, armored_signature: await signText(key, token) };
    await call("POST", "/user/gpg_key_verify", { as: user, json });
    const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/branches/main`);
    expect(body.commit.verification).toMatchObject({ verified: true });
  });

  it("checks the validity of a key at the time of the signature", async () => {
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
        expect((await verify(made)).verification).toMatchObject(expected);
      }
    }
  });

  it("treats a subkey as expired once its primary key is", async () => {
    const { user, key } = await makeSigner({
      lifetimeSeconds: 30 * 86_400,
      subkeys: [{ sign: true }],
    });
    await db.update(gpgKeys).set({ expiresAt: null }).where(eq(gpgKeys.primaryKeyId, key.keyId));
    const late = signed(key, { subkey: 0, at: new Date("2023-12-20T00:00:00Z") });
    expect((await verify(await commitBy(user, late))).verification).toMatchObject(BAD);
    const inTime = signed(key, { subkey: 0 });
    const { verification } = await verify(await commitBy(user, inTime));
    expect(verification).toMatchObject({ verified: true });
  });

  it("refuses an expired signature", async () => {
    const { user, key } = await makeSigner();
    const made = await commitBy(user, signed(key, { lifetimeSeconds: 86_400 }));
    expect((await verify(made)).verification).toMatchObject(BAD);
  });

  it("accepts a signer's clock that is ahead", async () => {
    const { user, key } = await makeSigner();
    const made = await commitBy(user, signed(key, { at: new Date(Date.now() + 3_600_000) }));
    expect((await verify(made)).verification).toMatchObject({ verified: true });
  });

  // An attacker with a compromised key can backdate signatures, so revocation applies to all of
  // them.
  it.each([
    ["the key", undefined],
    ["its primary key", 0],
  ])("accepts no signature once %s is revoked", async (_, subkey) => {
    const { user, key } = await makeSigner({ subkeys: [{ sign: true }] });
    await db.update(gpgKeys).set({ isRevoked: true }).where(eq(gpgKeys.keyId, key.keyId));
    const made = await commitBy(user, signed(key, { subkey }));
    expect((await verify(made)).verification).toMatchObject(BAD);
  });

  it("refuses a key without the signing capability", async () => {
    const { user, key } = await makeSigner({ subkeys: [{ sign: true }] });
    await db.update(gpgKeys).set({ canSign: false }).where(eq(gpgKeys.keyId, key.keyId));
    const made = await commitBy(user, signed(key, {}));
    expect((await verify(made)).verification).toMatchObject(BAD);
    const bySubkey = await commitBy(user, signed(key, { subkey: 0 }));
    expect((await verify(bySubkey)).verification).toMatchObject({ verified: true });
  });

  it("reports a stored key that can't be parsed", async () => {
    const { user, key, sign } = await makeSigner();
    const made = await commitBy(user, sign);
    for (const publicKey of ["", "AAAA", btoa("no packet")]) {
      await db.update(gpgKeys).set({ publicKey }).where(eq(gpgKeys.keyId, key.keyId));
      expect((await verify(made)).verification).toMatchObject(refused("failed_retrieval_gpg_keys"));
    }
  });

  it.each([
    ["MD5", enums.hash.md5],
    ["SHA-1", enums.hash.sha1],
    ["RIPEMD-160", enums.hash.ripemd],
  ])("refuses a weak hash: %s", async (_, hash) => {
    const { user, key } = await makeSigner();
    const made = await commitBy(user, async (bytes) => {
      const packet = await signWith(key, bytes);
      packet.signatureData?.set([hash], 3); // after version, type and algorithm
      return armorSignatures(packet);
    });
    expect((await verify(made)).verification).toMatchObject(refused("generate_hash"));
  });

  it("accepts a text signature only if line endings are unambiguous", async () => {
    const { user, key } = await makeSigner();
    const sign = signed(key, { type: enums.signature.text });
    expect((await verify(await commitBy(user, sign))).verification).toMatchObject({
      verified: true,
    });
    const message = "a\r\nb\n";
    const windows = await commitBy(user, sign, { message });
    expect((await verify(windows)).verification).toMatchObject(BAD);
    const exact = await commitBy(user, signed(key, {}), { message });
    expect((await verify(exact)).verification).toMatchObject({ verified: true });
  });

  it.each([
    ["two signatures of one key", (key: TestGpgKey) => signed(key, {}, {})],
    [
      "a standalone signature",
      (key: TestGpgKey) => signed(key, { type: enums.signature.standalone }),
    ],
    ["an empty signature", () => signed({} as TestGpgKey)],
    [
      "an X.509 signature",
      () => async () => "-----BEGIN SIGNED MESSAGE-----\nMIAG\n-----END SIGNED MESSAGE-----",
    ],
    [
      "a truncated signature",
      (key: TestGpgKey) => async (bytes: Uint8Array) => (await signBytes(key, bytes)).slice(0, 150),
    ],
    ["a key instead of a signature", (key: TestGpgKey) => async () => key.armored],
    [
      "two armored blocks",
      (key: TestGpgKey) => async (bytes: Uint8Array) =>
        `${await signBytes(key, bytes)}${await signBytes(key, bytes)}`,
    ],
    [
      "an oversized signature",
      (key: TestGpgKey) => async (bytes: Uint8Array) =>
        `${await signBytes(key, bytes)}${"x".repeat(20_000)}`,
    ],
  ])("reports %s as unreadable", async (_, makeSign) => {
    const { user, key } = await makeSigner();
    const made = await commitBy(user, makeSign(key));
    const { verification } = await verify(made);
    expect(verification).toMatchObject({ ...UNREADABLE, payload: made.content });
    expect(verification.signature).toBe(made.signature);
  });
});

describe("verification by an SSH key", () => {
  it("ignores deploy keys", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const key = makeSshKey();
    const json = { title: "deploy", key: key.line };
    await call("POST", `/repos/${repo.owner}/${repo.name}/keys`, { as: owner, json });
    const { verification } = await verify(await commitBy(owner, key.sign));
    expect(verification).toMatchObject(refused("no_gpg_keys_found"));
  });

  it("refuses another signature namespace, and a weak hash", async () => {
    const user = await make.user();
    const key = makeSshKey();
    await addSshKey(user, key);
    const forFile = (bytes: Uint8Array) => key.sign(bytes, { namespace: "file" });
    expect((await verify(await commitBy(user, forFile))).verification).toMatchObject(UNREADABLE);
    const weak = (bytes: Uint8Array) => key.sign(bytes, { hashName: "sha1" });
    const { verification } = await verify(await commitBy(user, weak));
    expect(verification).toMatchObject(refused("generate_hash"));
  });

  it("reports a signature over other bytes as bad", async () => {
    const user = await make.user();
    const key = makeSshKey();
    await addSshKey(user, key);
    const sign = () => key.sign(new TextEncoder().encode("something else"));
    expect((await verify(await commitBy(user, sign))).verification).toMatchObject(BAD);
  });
});

describe("the cost of verification", () => {
  it("is one database call for a page of commits, and nothing if not requested", async () => {
    const { user, sign } = await makeSigner();
    const repo = await make.repo(user);
    const made = await commitBy(user, sign);
    await storePush(repo, "refs/heads/main", made.oid, made.pack);
    const path = `/repos/${repo.owner}/${repo.name}/commits?stat=false&files=false`;
    const requested = await logged(() => call("GET", path, { as: user }));
    expect(requested.answer.body[0].commit.verification.verified).toBe(true);
    expect(requested.line.d1Rounds).toBeLessThanOrEqual(roundsWithOverlap(2));
    const omitted = await logged(() => call("GET", `${path}&verification=false`, { as: user }));
    expect(omitted.answer.body[0].commit.verification).toBeNull();
    expect(omitted.line.d1Calls).toBe(requested.line.d1Calls - 1);
  });

  // Accounts are looked up by addresses and keys, never scanned.
  it("reads no more rows when there are more accounts", async () => {
    const { user, sign } = await makeSigner();
    const { repo } = await verify(await commitBy(user, sign));
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
