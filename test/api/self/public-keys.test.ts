import { eq } from "drizzle-orm";
import { afterEach, describe, expect, it } from "vitest";

import { publicKeys } from "../../../src/db/schema/index.ts";
import * as known from "../../domain/people/keys/fixtures.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { makeSshKey } from "../../support/keys.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { statusesOf } from "../../support/statuses.ts";

const keysOf = (user: { id: number }) =>
  db.select().from(publicKeys).where(eq(publicKeys.userId, user.id));

const post = (user: TestUser, key: string, title = "laptop") =>
  call("POST", "/user/keys", { as: user, json: { title, key } });

/** Adds a new key and returns the API's response. */
async function add(user: TestUser) {
  const answer = await post(user, makeSshKey().line, freshName("key"));
  expect(answer.status).toBe(201);
  return answer.body;
}

describe("POST /user/keys", () => {
  const ACCEPTED = {
    "RSA of 2048 bits": known.RSA_2048,
    "RSA of 4096 bits": known.RSA_4096,
    Ed25519: known.ED25519,
    "ECDSA on P-256": known.ECDSA_256,
    "ECDSA on P-384": known.ECDSA_384,
    "ECDSA on P-521": known.ECDSA_521,
    "Ed25519 on a security key": known.SK_ED25519,
    "ECDSA on a security key": known.SK_ECDSA,
  };
  const FORMS = {
    "an SSH2 block": [known.RSA_2048_SSH2, known.RSA_2048],
    "PEM of PKCS#1": [known.RSA_2048_PKCS1, known.RSA_2048],
    "PEM of PKCS#8": [known.ECDSA_256_SPKI, known.ECDSA_256],
  } as const;

  // The fixture keys are fixed: a key that one test adds must not conflict with another test.
  const added: number[] = [];
  afterEach(async () => {
    for (const id of added.splice(0)) await db.delete(publicKeys).where(eq(publicKeys.id, id));
  });

  it.each(Object.entries(ACCEPTED))(
    "stores %s under the fingerprint that ssh-keygen prints",
    async (_kind, { line, printed }) => {
      const user = await make.user();

      const answer = await post(user, `${line}\n`, " my laptop ");
      added.push(answer.body.id);

      expect(answer).toMatchObject({
        status: 201,
        body: {
          id: expect.any(Number),
          key: line,
          url: `https://forge.example/api/v1/user/keys/${answer.body.id}`,
          title: " my laptop ",
          fingerprint: printed.split(" ")[1],
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          last_used_at: null,
          user: { login: user.name },
          read_only: false,
          key_type: "user",
        },
      });
      expect(await eventsIn(user)).toMatchObject([
        { type: "public_key.added", payload: { fingerprint: answer.body.fingerprint } },
      ]);
    },
  );

  it.each(Object.entries(FORMS))(
    "stores a key sent as %s as one line in OpenSSH's format",
    async (_form, [text, { line, printed }]) => {
      const answer = await post(await make.user(), text);
      added.push(answer.body.id);

      const [kind = "", blob = ""] = line.split(" ");
      expect(answer).toMatchObject({
        status: 201,
        body: {
          key: expect.stringContaining(`${kind} ${blob}`),
          fingerprint: printed.split(" ")[1],
        },
      });
    },
  );

  it.each([
    ["RSA of 1024 bits", known.RSA_1024.line, "key length is not enough: got 1024, needs 2048"],
    ["DSA", known.DSA.line, "key type is not allowed: dsa"],
    ["a certificate", known.CERTIFICATE.line, "this is an SSH certificate, not a public key"],
    [
      "a private key",
      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----",
      "this is a private key and must not be uploaded: send its public half",
    ],
    ["a GPG key", known.ADA.armored, "this is a GPG key, not an SSH key"],
    ["garbage", "hello", "this is not an SSH public key"],
    ["a key whose blob is cut off", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMqv", expect.any(String)],
    ["two keys", `${known.ED25519.line}\n${known.RSA_2048.line}`, expect.stringMatching(/several/)],
    [
      "options in front of the key",
      `command="sh" ${known.ED25519.line}`,
      "options before the key are not allowed",
    ],
  ])("refuses %s with a reason, and stores nothing", async (_kind, key, reason) => {
    const user = await make.user();

    const answer = await post(user, key);

    expect(answer).toMatchObject({
      status: 422,
      body: {
        message: expect.stringMatching(/^Invalid key content: ./),
        url: "https://forge.example/api/swagger",
      },
    });
    expect(answer.body.message.replace("Invalid key content: ", "")).toEqual(reason);
    expect(await keysOf(user)).toEqual([]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it.each([
    ["no title", { key: makeSshKey().line }, "[title]: is required"],
    ["an empty title", { title: "", key: makeSshKey().line }, "[title]: must not be empty"],
    ["no key", { title: "laptop" }, "[key]: is required"],
    ["an empty key", { title: "laptop", key: "" }, "[key]: must not be empty"],
    [
      "a title that is too long",
      { title: "x".repeat(256), key: "x" },
      "[title]: must have at most 255 characters",
    ],
  ])("refuses %s", async (_kind, json, message) => {
    const user = await make.user();

    const answer = await call("POST", "/user/keys", { as: user, json });

    expect(answer).toMatchObject({ status: 422, body: { message } });
    expect(await keysOf(user)).toEqual([]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("refuses a key that already exists, of the same user or another one", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const { line } = makeSshKey();
    await post(owner, line);

    // The comment is not part of the key.
    for (const user of [owner, other]) {
      expect(await post(user, `${line} again`, "another title")).toMatchObject({
        status: 422,
        body: { message: "Key content has been used as non-deploy key" },
      });
    }
    expect(await keysOf(owner)).toHaveLength(1);
    expect(await keysOf(other)).toEqual([]);
    expect(await eventsIn(other)).toEqual([]);
  });

  // SECURITY: a key must identify either a user or repositories.
  it("refuses a deploy key of a repository", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const { line } = makeSshKey();
    const path = `/repos/${repo.owner}/${repo.name}/keys`;
    await call("POST", path, { as: user, json: { title: "deploy", key: line } });

    const other = await make.user();
    for (const each of [user, other]) {
      expect(await post(each, line)).toMatchObject({
        status: 422,
        body: { message: "Key content has been used as deploy key" },
      });
    }
    expect(await keysOf(user)).toMatchObject([{ repoId: repo.id }]);
    expect(await keysOf(other)).toEqual([]);
    expect(await eventsIn(other)).toEqual([]);
  });

  it("refuses a title that another of the user's keys has, also under concurrent requests", async () => {
    const user = await make.user();
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => post(user, makeSshKey().line, "work")),
    );
    expect(statusesOf(answers)).toEqual([201, 422, 422]);
    expect(await post(user, makeSshKey().line, "work")).toMatchObject({
      status: 422,
      body: { message: "Key title has been used" },
    });
    expect(await keysOf(user)).toHaveLength(1);
    expect(await eventsIn(user)).toHaveLength(1);
    // Titles differ by case, and are nobody else's.
    expect((await post(user, makeSshKey().line, "Work")).status).toBe(201);
    expect((await post(await make.user(), makeSshKey().line, "work")).status).toBe(201);
  });

  it("stores a key once for five concurrent requests", async () => {
    const users = await Promise.all(Array.from({ length: 5 }, () => make.user()));
    const { line, fingerprint } = makeSshKey();

    const answers = await Promise.all(users.map((user) => post(user, line)));

    expect(statusesOf(answers)).toEqual([201, 422, 422, 422, 422]);
    const stored = await db
      .select()
      .from(publicKeys)
      .where(eq(publicKeys.fingerprint, fingerprint));
    expect(stored).toHaveLength(1);
    const recorded = await Promise.all(users.map(eventsIn));
    expect(recorded.flat()).toHaveLength(1);
  });

  it("asks anonymous callers to sign in, and refuses a token with only the read scope", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "read:user" });
    const json = { title: "laptop", key: makeSshKey().line };

    expect((await call("POST", "/user/keys", { json })).status).toBe(401);
    expect((await call("POST", "/user/keys", { token, json })).status).toBe(403);
    expect(await keysOf(user)).toEqual([]);
  });
});

describe("GET /user/keys/{id}", () => {
  it("returns the user's own key", async () => {
    const user = await make.user();
    const key = await add(user);

    expect(await call("GET", `/user/keys/${key.id}`, { as: user })).toMatchObject({
      status: 200,
      body: key,
    });
  });

  it("is not found for another user's key, a deploy key, or an invalid id", async () => {
    const user = await make.user();
    const foreign = await add(await make.user());
    const repo = await make.repo(user);
    const json = { title: "deploy", key: makeSshKey().line };
    const deploy = await call("POST", `/repos/${repo.owner}/${repo.name}/keys`, { as: user, json });

    for (const id of [
      foreign.id,
      deploy.body.id,
      999_999_999,
      "0",
      "-1",
      "abc",
      "1.0",
      "9".repeat(30),
    ]) {
      const answer = await call("GET", `/user/keys/${id}`, { as: user });
      expect(answer).toMatchObject({ status: 404, body: "" });
    }
  });
});

describe("DELETE /user/keys/{id}", () => {
  it("removes the user's own key, which can be added again", async () => {
    const user = await make.user();
    const key = await add(user);

    const answer = await call("DELETE", `/user/keys/${key.id}`, { as: user });

    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(await keysOf(user)).toEqual([]);
    expect((await eventsIn(user)).at(-1)).toMatchObject({
      type: "public_key.removed",
      payload: { fingerprint: key.fingerprint },
    });
    expect((await call("DELETE", `/user/keys/${key.id}`, { as: user })).status).toBe(404);
    expect((await post(await make.user(), key.key)).status).toBe(201);
  });

  // The contract specifies 403 here, although a GET of the same id is a 404.
  it("refuses to remove another user's key", async () => {
    const [user, owner] = [await make.user(), await make.user()];
    const key = await add(owner);

    const answer = await call("DELETE", `/user/keys/${key.id}`, { as: user });

    expect(answer).toMatchObject({
      status: 403,
      body: { message: "You do not have access to this key" },
    });
    expect(await keysOf(owner)).toHaveLength(1);
    expect(await eventsIn(owner)).toHaveLength(1);
  });

  it("is not found for a deploy key or an invalid id", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const json = { title: "deploy", key: makeSshKey().line };
    const deploy = await call("POST", `/repos/${repo.owner}/${repo.name}/keys`, { as: user, json });

    for (const id of [deploy.body.id, 999_999_999, "abc"]) {
      expect((await call("DELETE", `/user/keys/${id}`, { as: user })).status).toBe(404);
    }
    expect(await keysOf(user)).toHaveLength(1);
  });
});

describe("GET /user/keys", () => {
  it("lists all keys without a page parameter, and pages with one", async () => {
    const user = await make.user();
    const titles: string[] = [];
    for (let at = 0; at < 4; at++) {
      titles.push(`key ${at}`);
      await post(user, makeSshKey().line, `key ${at}`);
    }
    const list = async (query: string) => {
      const answer = await call("GET", `/user/keys${query}`, { as: user });
      expect(answer.headers.get("X-Total-Count")).toBe("4");
      return answer.body.map(({ title }: { title: string }) => title);
    };

    expect(await list("")).toEqual(titles);
    expect(await list("?page=0&limit=1")).toEqual(titles);
    expect(await list("?page=1&limit=3")).toEqual(titles.slice(0, 3));
    expect(await list("?page=2&limit=3")).toEqual(titles.slice(3));
    expect(await list("?page=3&limit=3")).toEqual([]);
  });

  it("finds the user's key with a fingerprint", async () => {
    const user = await make.user();
    const [first] = [await add(user), await add(user)];
    const foreign = await add(await make.user());
    const find = async (fingerprint: string) => {
      const query = new URLSearchParams({ fingerprint });
      return (await call("GET", `/user/keys?${query}`, { as: user })).body;
    };

    expect(await find(first.fingerprint)).toMatchObject([{ id: first.id }]);
    expect(await find(foreign.fingerprint)).toEqual([]);
  });

  it("omits deploy keys that the user added", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const json = { title: "deploy", key: makeSshKey().line };
    await call("POST", `/repos/${repo.owner}/${repo.name}/keys`, { as: user, json });

    expect((await call("GET", "/user/keys", { as: user })).body).toEqual([]);
  });
});

describe("GET /users/{username}/keys", () => {
  it("lists the keys for signed-in callers, without the owner", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const key = await add(owner);

    const answer = await call("GET", `/users/${owner.name}/keys`, { as: other });

    expect(answer).toMatchObject({ status: 200, body: [{ id: key.id, key: key.key }] });
    expect(answer.body[0]).not.toHaveProperty("user");
  });

  it("asks anonymous callers to sign in", async () => {
    const owner = await make.user();

    expect((await call("GET", `/users/${owner.name}/keys`)).status).toBe(401);
  });

  it("is not found for a private or an unknown user", async () => {
    const [owner, other] = [await make.user({ visibility: "private" }), await make.user()];
    await add(owner);

    for (const name of [owner.name, "nobody-of-this-name"]) {
      const answer = await call("GET", `/users/${name}/keys`, { as: other });
      expect(answer).toMatchObject({ status: 404, body: "" });
    }
    expect((await call("GET", `/users/${owner.name}/keys`, { as: owner })).body).toHaveLength(1);
  });
});
