import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { gpgKeys } from "../../../src/db/schema/index.ts";
import { tokensToSign } from "../../../src/domain/people/keys/gpg-key-token.ts";
import * as known from "../../domain/people/keys/fixtures.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { makeGpgKey, signText } from "../../support/keys.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";

// The fixtures are added as untrusted keys: a key can be trusted for one account only.

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const IN_USE = "a key with the same id is already in use";
const NO_MATCH = "the signature does not match the token of /user/gpg_key_token";

const rowsOf = (user: { id: number }) =>
  db.select().from(gpgKeys).where(eq(gpgKeys.userId, user.id));

const post = (user: TestUser, armored: string, signature?: string) =>
  call("POST", "/user/gpg_keys", {
    as: user,
    json: { armored_public_key: armored, armored_signature: signature },
  });

/** Adds a key and returns the API's response. */
async function add(user: TestUser, armored: string, signature?: string) {
  const answer = await post(user, armored, signature);
  expect(answer.status).toBe(201);
  return answer.body;
}

const tokenOf = async (user: TestUser): Promise<string> =>
  (await call("GET", "/user/gpg_key_token", { as: user })).body;

const verify = (user: TestUser, keyId: string, signature: string) =>
  call("POST", "/user/gpg_key_verify", {
    as: user,
    json: { key_id: keyId, armored_signature: signature },
  });

/** Whether the key is verified, and which of its email addresses are the user's. */
async function verifiedOf(user: TestUser, id: number) {
  const { body } = await call("GET", `/user/gpg_keys/${id}`, { as: user });
  const emails = body.emails.filter(({ verified }: { verified: boolean }) => verified);
  return [body.verified, ...emails.map(({ email }: { email: string }) => email)];
}

describe("POST /user/gpg_keys", () => {
  it("stores a key with its subkeys, returns the contract's fields, and records an event", async () => {
    const user = await make.user();

    const answer = await post(user, known.ADA.armored);

    const common = {
      id: expect.any(Number),
      public_key: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      verified: false,
      created_at: "2024-01-01T12:00:00Z",
      expires_at: null,
    };
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      ...common,
      primary_key_id: "",
      key_id: "87C40E14FC1C2B19",
      emails: [{ email: "ada@example.org", verified: false }],
      can_sign: true,
      can_certify: true,
      can_encrypt_comms: false,
      can_encrypt_storage: false,
      subkeys: [
        {
          ...common,
          primary_key_id: "87C40E14FC1C2B19",
          key_id: "3DD00BB1481F5436",
          emails: [],
          can_sign: false,
          can_certify: false,
          can_encrypt_comms: true,
          can_encrypt_storage: true,
          subkeys: [],
        },
      ],
    });
    expect(await eventsIn(user)).toMatchObject([
      { type: "gpg_key.added", actorId: user.id, payload: { keyId: "87C40E14FC1C2B19" } },
    ]);
  });

  it("returns the expiry of a key", async () => {
    const user = await make.user();

    const expired = await add(user, known.EXPIRED.armored);
    const made = await add(user, (await makeGpgKey(user.email, 86_400)).armored);

    expect(expired.expires_at).toBe("2021-01-01T00:00:00Z");
    expect(made.expires_at).toMatch(TIME);
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(86_400_000);
  });

  it("adds every key of a block", async () => {
    const user = await make.user();

    const answer = await post(user, known.THREE_IN_ONE_BLOCK.armored);

    expect(answer).toMatchObject({ status: 201, body: { key_id: "87C40E14FC1C2B19" } });
    expect((await call("GET", "/user/gpg_keys", { as: user })).body).toMatchObject([
      { key_id: "87C40E14FC1C2B19", subkeys: [{}] },
      { key_id: "37CCE67B712DA03A", subkeys: [] },
      { key_id: "B8216F136E7E3D3A", subkeys: [{}, {}] },
    ]);
  });

  it("adds none of several keys if the user already has one of them", async () => {
    const user = await make.user();
    await add(user, known.EXPIRED.armored);

    const answer = await post(user, known.THREE_IN_ONE_BLOCK.armored);

    expect(answer).toMatchObject({ status: 422, body: { message: IN_USE } });
    expect(await rowsOf(user)).toHaveLength(1);
    expect(await eventsIn(user)).toHaveLength(1);
  });

  // SECURITY: a public key is public: that it names an address of the account does not show that
  // its owner added it.
  it("does not verify a key because it names an address that the user has confirmed", async () => {
    const user = await make.user();
    const { armored } = await makeGpgKey(user.email);

    const key = await add(user, armored);

    expect(key).toMatchObject({
      verified: false,
      emails: [{ email: user.email, verified: true }],
      subkeys: [{ verified: false }],
    });
  });

  it("shows which of a key's addresses the user has, while they have them", async () => {
    const user = await make.user();
    const email = `${freshName("mail")}@example.com`;
    const { id } = await add(user, (await makeGpgKey(email)).armored);
    expect(await verifiedOf(user, id)).toEqual([false]);

    await call("POST", "/user/emails", { as: user, json: { emails: [email] } });
    expect(await verifiedOf(user, id)).toEqual([false, email]);

    await call("DELETE", "/user/emails", { as: user, json: { emails: [email] } });
    expect(await verifiedOf(user, id)).toEqual([false]);
  });

  it("verifies a key that signed the user's token", async () => {
    const user = await make.user();
    const key = await makeGpgKey(`${freshName("mail")}@example.com`);

    const added = await add(user, key.armored, await signText(key, await tokenOf(user)));

    expect(added).toMatchObject({ verified: true, emails: [{ verified: false }] });
  });

  it("refuses a key with a signature of another text, and stores nothing", async () => {
    const user = await make.user();
    const key = await makeGpgKey(user.email);

    const answer = await post(user, key.armored, await signText(key, "something else"));

    expect(answer).toMatchObject({ status: 422, body: { message: NO_MATCH } });
    expect(await rowsOf(user)).toEqual([]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("refuses a key that the user already has", async () => {
    const user = await make.user();
    await add(user, known.ADA.armored);

    expect(await post(user, known.ADA.armored)).toMatchObject({
      status: 422,
      body: { message: IN_USE, url: "https://forge.example/api/swagger" },
    });
    expect(await rowsOf(user)).toHaveLength(2);
    expect(await eventsIn(user)).toHaveLength(1);
  });

  it("refuses a key that another account is trusted with, by address or by proof", async () => {
    const [named, proven, other] = [await make.user(), await make.user(), await make.user()];
    const byAddress = await makeGpgKey(named.email);
    const byProof = await makeGpgKey(`${freshName("mail")}@example.com`);
    await add(named, byAddress.armored);
    await add(proven, byProof.armored, await signText(byProof, await tokenOf(proven)));

    for (const { armored } of [byAddress, byProof]) {
      expect(await post(other, armored)).toMatchObject({
        status: 422,
        body: { message: IN_USE },
      });
    }
    expect(await rowsOf(other)).toEqual([]);
    expect(await eventsIn(other)).toEqual([]);
  });

  // SECURITY: public keys are public: a copy in another account must not stop the owner from adding
  // the key.
  it("lets the owner of a key add it although another account has a copy", async () => {
    const [copyist, owner] = [await make.user(), await make.user()];
    const key = await makeGpgKey(owner.email);
    const copy = await add(copyist, key.armored);

    expect(await add(owner, key.armored)).toMatchObject({ emails: [{ verified: true }] });
    expect(await verifiedOf(copyist, copy.id)).toEqual([false]);
  });

  it.each([
    [
      "a private key",
      "private",
      "this is a private key and must not be uploaded: send its public half",
    ],
    ["garbage", "hello", "there is no armored GPG public key in the text"],
    ["a signature", known.ADA_SIGNED_LINE, "this is a GPG signature, not a public key"],
    [
      "a damaged key",
      known.ADA.armored.replace(/mDME../, "AAAAAA"),
      "this is not a valid GPG public key",
    ],
    ["a key that speaks for nobody", known.UNSIGNED, "the key has no valid user id of its own"],
    ["nothing", "", "[armored_public_key]: must not be empty"],
  ])("refuses %s with a reason, and stores nothing", async (_, text, message) => {
    const user = await make.user();
    const armored = text === "private" ? (await makeGpgKey(user.email)).privateKey.armor() : text;

    expect(await post(user, armored)).toMatchObject({ status: 422, body: { message } });
    expect(await rowsOf(user)).toEqual([]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("asks anonymous callers to sign in, and refuses a token with only the read scope", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "read:user" });
    const json = { armored_public_key: known.ADA.armored };

    expect((await call("POST", "/user/gpg_keys", { json })).status).toBe(401);
    expect((await call("POST", "/user/gpg_keys", { token, json })).status).toBe(403);
    expect(await rowsOf(user)).toEqual([]);
  });
});

describe("GET /user/gpg_keys", () => {
  it("lists all keys without a page parameter, and pages with one", async () => {
    const user = await make.user();
    await add(user, known.THREE_IN_ONE_BLOCK.armored);
    const list = async (query: string) => {
      const answer = await call("GET", `/user/gpg_keys${query}`, { as: user });
      expect(answer.headers.get("X-Total-Count")).toBe("3");
      return answer.body.map(({ key_id }: { key_id: string }) => key_id);
    };
    const all = ["87C40E14FC1C2B19", "37CCE67B712DA03A", "B8216F136E7E3D3A"];

    expect(await list("")).toEqual(all);
    expect(await list("?page=1&limit=2")).toEqual(all.slice(0, 2));
    expect(await list("?page=2&limit=2")).toEqual(all.slice(2));
  });
});

describe("GET /user/gpg_keys/{id}", () => {
  it("returns the user's own key, and is not found for another user's", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const own = await add(user, known.ADA.armored);
    const foreign = await add(other, known.ADA.armored);

    const get = (id: unknown) => call("GET", `/user/gpg_keys/${String(id)}`, { as: user });
    expect(await get(own.id)).toMatchObject({ status: 200, body: own });
    for (const id of [foreign.id, own.subkeys[0].id, 999_999_999, "abc"]) {
      expect(await get(id)).toMatchObject({ status: 404, body: "" });
    }
  });
});

describe("DELETE /user/gpg_keys/{id}", () => {
  it("removes the user's own key with its subkeys, but not another user's copy", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const key = await add(user, known.NIST.armored);
    const kept = await add(user, known.ADA.armored);
    await add(other, known.NIST.armored);

    const answer = await call("DELETE", `/user/gpg_keys/${key.id}`, { as: user });

    expect(answer).toMatchObject({ status: 204, body: "" });
    expect((await call("GET", "/user/gpg_keys", { as: user })).body).toMatchObject([
      { id: kept.id },
    ]);
    expect(await rowsOf(user)).toHaveLength(2);
    expect(await rowsOf(other)).toHaveLength(3);
    expect((await eventsIn(user)).at(-1)).toMatchObject({
      type: "gpg_key.removed",
      payload: { keyId: key.key_id },
    });
    expect((await call("DELETE", `/user/gpg_keys/${key.id}`, { as: user })).status).toBe(404);
  });

  // The contract specifies 403 here, although a GET of the same id is a 404.
  it("refuses to remove another user's key", async () => {
    const [user, owner] = [await make.user(), await make.user()];
    const key = await add(owner, known.ADA.armored);

    const answer = await call("DELETE", `/user/gpg_keys/${key.id}`, { as: user });

    expect(answer).toMatchObject({
      status: 403,
      body: { message: "You do not have access to this key" },
    });
    expect(await rowsOf(owner)).toHaveLength(2);
    expect(await eventsIn(owner)).toHaveLength(1);
  });

  it("is not found for an unknown id or a subkey", async () => {
    const user = await make.user();
    const key = await add(user, known.ADA.armored);

    for (const id of [key.subkeys[0].id, 999_999_999, "abc"]) {
      expect((await call("DELETE", `/user/gpg_keys/${id}`, { as: user })).status).toBe(404);
    }
    expect(await rowsOf(user)).toHaveLength(2);
  });
});

describe("GET /user/gpg_key_token", () => {
  it("returns a different text for each user", async () => {
    const [user, other] = [await make.user(), await make.user()];

    const answer = await call("GET", "/user/gpg_key_token", { as: user });

    expect(answer).toMatchObject({ status: 200, body: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(answer.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(await tokenOf(other)).not.toBe(answer.body);
    expect((await call("GET", "/user/gpg_key_token")).status).toBe(401);
  });
});

describe("POST /user/gpg_key_verify", () => {
  const untrusted = () => makeGpgKey(`${freshName("mail")}@example.com`);

  it("trusts the key that signed the token, and records an event", async () => {
    const user = await make.user();
    const key = await untrusted();
    const { id } = await add(user, key.armored);

    const signature = await signText(key, await tokenOf(user));
    const answer = await verify(user, key.keyId.toLowerCase(), signature);

    expect(answer).toMatchObject({
      status: 201,
      body: { id, verified: true, subkeys: [{ verified: true }] },
    });
    expect(await verifiedOf(user, id)).toEqual([true]);
    expect((await eventsIn(user)).at(-1)).toMatchObject({
      type: "gpg_key.verified",
      payload: { keyId: key.keyId },
    });
  });

  it("finds the key by the id of a subkey too", async () => {
    const user = await make.user();
    const key = await untrusted();
    const { id, subkeys } = await add(user, key.armored);

    const answer = await verify(user, subkeys[0].key_id, await signText(key, await tokenOf(user)));

    expect(answer).toMatchObject({ status: 201, body: { id, verified: true } });
  });

  it("refuses a signature by another key, of another text, and an invalid one", async () => {
    const user = await make.user();
    const [key, stranger] = [await untrusted(), await untrusted()];
    const { id } = await add(user, key.armored);
    const token = await tokenOf(user);

    const signatures = [
      await signText(stranger, token),
      await signText(key, "something else"),
      "hello",
    ];
    for (const signature of signatures) {
      expect(await verify(user, key.keyId, signature)).toMatchObject({
        status: 422,
        body: { message: NO_MATCH },
      });
    }
    expect(await verifiedOf(user, id)).toEqual([false]);
    expect(await eventsIn(user)).toHaveLength(1);
  });

  // SECURITY: a signature that another user made for their own account must prove nothing here.
  it("refuses a signature of another user's token", async () => {
    const [user, owner] = [await make.user(), await make.user()];
    const key = await untrusted();
    const { id } = await add(user, key.armored);

    const answer = await verify(user, key.keyId, await signText(key, await tokenOf(owner)));

    expect(answer.status).toBe(422);
    expect(await verifiedOf(user, id)).toEqual([false]);
  });

  it("refuses a token that is older than two minutes", async () => {
    const user = await make.user();
    const key = await untrusted();
    const { id } = await add(user, key.armored);
    const [old = ""] = await tokensToSign(user, Date.now() - 120_000);

    expect((await verify(user, key.keyId, await signText(key, old))).status).toBe(422);
    expect(await verifiedOf(user, id)).toEqual([false]);
  });

  it("refuses to trust a second account with a key", async () => {
    const [first, second] = [await make.user(), await make.user()];
    const key = await untrusted();
    await add(first, key.armored);
    const { id } = await add(second, key.armored);
    await verify(first, key.keyId, await signText(key, await tokenOf(first)));

    const answer = await verify(second, key.keyId, await signText(key, await tokenOf(second)));

    expect(answer).toMatchObject({ status: 422, body: { message: IN_USE } });
    expect(await verifiedOf(second, id)).toEqual([false]);
    expect(await eventsIn(second)).toHaveLength(1);
  });

  it("is not found for another user's key", async () => {
    const [user, owner] = [await make.user(), await make.user()];
    const key = await untrusted();
    await add(owner, key.armored);

    const answer = await verify(user, key.keyId, await signText(key, await tokenOf(user)));

    expect(answer).toMatchObject({ status: 404, body: "" });
  });

  it.each([
    ["no key", { armored_signature: "x" }],
    ["no signature", { key_id: "87C40E14FC1C2B19" }],
  ])("refuses %s", async (_, json) => {
    expect(
      await call("POST", "/user/gpg_key_verify", { as: await make.user(), json }),
    ).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/^\[\w+\]: is required$/) },
    });
  });
});

describe("GET /users/{username}/gpg_keys", () => {
  it("lists the keys for signed-in callers", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const key = await add(owner, (await makeGpgKey(owner.email)).armored);

    expect(await call("GET", `/users/${owner.name}/gpg_keys`, { as: other })).toMatchObject({
      status: 200,
      body: [{ id: key.id, verified: false, emails: [{ email: owner.email, verified: true }] }],
    });
    expect((await call("GET", `/users/${owner.name}/gpg_keys`)).status).toBe(401);
  });

  it("is not found for a private or an unknown user", async () => {
    const [owner, other] = [await make.user({ visibility: "private" }), await make.user()];

    for (const name of [owner.name, "nobody-of-this-name"]) {
      const answer = await call("GET", `/users/${name}/gpg_keys`, { as: other });
      expect(answer).toMatchObject({ status: 404, body: "" });
    }
  });
});
