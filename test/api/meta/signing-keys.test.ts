import { describe, expect, it } from "vitest";

import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { codec } from "../../../src/storage/codec.ts";
import { call } from "../../support/call.ts";
import { placeOf } from "../../support/git.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { refsOf, storePush } from "../../support/push.ts";
import { serviceWith } from "../../support/service.ts";
import { makeOpenPgpSigningKey, makeSshSigningKey, SSH_KINDS } from "../../support/signing-keys.ts";
import { logged } from "../../support/usage.ts";

type Service = ReturnType<typeof serviceWith>;

const NAMED = { SIGNING_NAME: "The Forge", SIGNING_EMAIL: "forge@forge.example" };
const SIGNER = { name: "The Forge", email: "forge@forge.example", username: "" };

/** Creates a repository with a first commit. */
async function makeFirst(service: Service, user: TestUser) {
  const json = { name: freshName("signed"), auto_init: true };
  const { status, body } = await service("POST", "/user/repos", { as: user, json });
  expect(status).toBe(201);
  return { path: `/repos/${user.name}/${body.name}` };
}

async function firstVerification(service: Service, user: TestUser) {
  const { path } = await makeFirst(service, user);
  const { body } = await service("GET", `${path}/git/commits/main`, { as: user });
  return body.commit.verification;
}

/** Creates an annotated tag, and reads its object. */
async function makeTag(service: Service, user: TestUser, path: string, name = "v1") {
  const json = { tag_name: name, message: "One\n\n-----BEGIN PGP SIGNATURE-----\nof my own" };
  const made = await service("POST", `${path}/tags`, { as: user, json });
  expect(made.status).toBe(201);
  return (await service("GET", `${path}/git/tags/${made.body.id}`, { as: user })).body;
}

describe("a service with an OpenPGP key", () => {
  it.each([false, true])(
    "signs the commits that it creates, with a subkey: %s",
    async (hasSubkey) => {
      const key = await makeOpenPgpSigningKey({ hasSubkey });
      const service = serviceWith({ ...NAMED, SIGNING_KEY: key.armored });
      const user = await make.user();
      const { path } = await makeFirst(service, user);
      const commit = (await service("GET", `${path}/git/commits/main`, { as: user })).body;
      expect(commit.commit.verification).toMatchObject({
        verified: true,
        reason: `The Forge / ${key.keyId}`,
        signer: SIGNER,
      });
      // The commit still names the caller as author and committer.
      expect(commit.committer.login).toBe(user.name);

      const tag = await makeTag(service, user, path);
      expect(tag.verification).toMatchObject({
        verified: true,
        reason: `The Forge / ${key.keyId}`,
        signer: SIGNER,
      });
      expect(tag.message).toBe("One\n\n-----BEGIN PGP SIGNATURE-----\nof my own\n");
      expect(tag.tagger.email).toBe(user.email);
    },
  );

  it("returns the key to everybody, and only in its own format", async () => {
    const key = await makeOpenPgpSigningKey();
    const service = serviceWith({ SIGNING_KEY: key.armored });
    const repo = await make.repo(await make.user());
    for (const base of ["", `/repos/${repo.owner}/${repo.name}`]) {
      const read = () => service("GET", `${base}/signing-key.gpg`);
      const { answer, line } = await logged(read);
      const { status, headers, body } = answer;
      expect(line.d1Rounds).toBeLessThanOrEqual(base === "" ? 0 : 2);
      expect([status, body]).toEqual([200, key.publicArmored]);
      expect(headers.get("Content-Type")).toMatch(/^text\/plain/);
      for (const suffix of ["pub", "ssh"]) {
        const other = await service("GET", `${base}/signing-key.${suffix}`);
        expect([other.status, other.body]).toEqual([404, ""]);
      }
    }
  });

  it("rejects a signature that names its key but was not made with it", async () => {
    const key = await makeOpenPgpSigningKey();
    const service = serviceWith({ ...NAMED, SIGNING_KEY: key.armored });
    const user = await make.user();
    const { path } = await makeFirst(service, user);
    const { body } = await service("GET", `${path}/git/commits/main`, { as: user });
    const { payload, signature } = body.commit.verification;
    const forged = payload.replace("Initial", "Final");
    const header = `gpgsig ${signature.replaceAll("\n", "\n ")}\n`;
    const builder = new PackBuilder(codec);
    builder.add("tree", new Uint8Array());
    const content = forged.replace(/^tree \w+/, `tree ${EMPTY_TREE}`);
    const oid = builder.add("commit", encodeUtf8(content.replace("\n\n", `\n${header}\n`)));
    const repo = await make.repo(user);
    await storePush(repo, "refs/heads/forged", oid, builder.build());
    const answer = await service("GET", `/repos/${repo.owner}/${repo.name}/git/commits/${oid}`);
    expect(answer.body.commit.verification).toMatchObject({
      verified: false,
      reason: "gpg.error.probable_bad_default_signature",
      signer: null,
    });
  });
});

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

describe("a service with an SSH key", () => {
  it.each(SSH_KINDS)("signs the commits that it creates, and returns the key: %s", async (kind) => {
    const key = await makeSshSigningKey(kind);
    const service = serviceWith({ ...NAMED, SIGNING_KEY: key.armored });
    const user = await make.user();
    const { path } = await makeFirst(service, user);
    const { body } = await service("GET", `${path}/git/commits/main`, { as: user });
    const verification = { verified: true, reason: `The Forge / ${key.fingerprint}` };
    expect(body.commit.verification).toMatchObject({ ...verification, signer: SIGNER });
    expect((await makeTag(service, user, path)).verification).toMatchObject(verification);

    for (const suffix of ["pub", "ssh"]) {
      for (const base of ["", path]) {
        const shown = await service("GET", `${base}/signing-key.${suffix}`);
        expect([shown.status, shown.body]).toEqual([200, key.line]);
      }
    }
    expect((await service("GET", "/signing-key.gpg")).status).toBe(404);
  });
});

describe("signing", () => {
  it("is skipped for operations that are not configured", async () => {
    const { armored } = await makeSshSigningKey();
    const user = await make.user();
    const without = (name: string) => serviceWith({ SIGNING_KEY: armored, [name]: "false" });
    expect((await firstVerification(without("SIGNING_TAGS"), user)).verified).toBe(true);
    const first = await firstVerification(without("SIGNING_INITIAL_COMMIT"), user);
    expect(first.reason).toBe("gpg.error.not_signed_commit");
    const service = without("SIGNING_TAGS");
    const { path } = await makeFirst(service, user);
    const tag = await makeTag(service, user, path);
    expect(tag.verification.verified).toBe(false);
  });

  it("names the service by its own name by default", async () => {
    const { armored, fingerprint } = await makeSshSigningKey();
    const service = serviceWith({ SIGNING_KEY: armored, APP_NAME: "Smithy" });
    expect(await firstVerification(service, await make.user())).toMatchObject({
      reason: `Smithy / ${fingerprint}`,
      signer: { name: "Smithy", email: "" },
    });
  });

  it("is returned in the response to a change, and skipped with another author's identity", async () => {
    const { armored, fingerprint } = await makeSshSigningKey();
    const service = serviceWith({ SIGNING_KEY: armored });
    const user = await make.user();
    const other = await make.user();
    const { path } = await makeFirst(service, user);
    const add = (name: string, author?: object) => {
      const json = { content: btoa("a file"), author };
      return logged(() => service("POST", `${path}/contents/${name}`, { as: user, json }));
    };
    const own = await add("own");
    expect(own.answer.status).toBe(201);
    expect(own.answer.body.verification).toMatchObject({
      verified: true,
      reason: `Edgeforge / ${fingerprint}`,
    });
    expect(own.line.d1Rounds).toBeLessThanOrEqual(3);
    const named = await add("named", { name: "O", email: other.email });
    expect(named.answer.body.verification.reason).toBe("gpg.error.not_signed_commit");
  });

  it("is verified without account keys and without a database query", async () => {
    const { armored } = await makeSshSigningKey();
    const service = serviceWith({ SIGNING_KEY: armored });
    const user = await make.user();
    const { path } = await makeFirst(service, user);
    const read = (query: string) =>
      logged(() => service("GET", `${path}/git/commits/main?${query}`, { as: user }));
    const { line: asked } = await read("verification=true");
    const { line: unasked } = await read("verification=false");
    expect(asked.d1Calls).toBe(unasked.d1Calls);
  });

  it("uses no hidden email address", async () => {
    const { armored } = await makeSshSigningKey();
    const service = serviceWith({ SIGNING_KEY: armored });
    const user = await make.user({ isEmailHidden: true });
    const verification = await firstVerification(service, user);
    expect(verification).toMatchObject({ verified: true });
    expect(verification.payload).toContain(`<${user.name}@noreply.forge.example>`);
  });

  // Creating no repository is better than one that is unexpectedly unsigned.
  it.each([
    ["an OpenPGP key with a passphrase", () => makeOpenPgpSigningKey({ passphrase: "secret" })],
    ["no OpenPGP key at all", () => makeDamaged(makeOpenPgpSigningKey())],
    ["no OpenSSH key at all", () => makeDamaged(makeSshSigningKey())],
  ])("fails with %s, and reveals nothing of the key", async (_, makeKey) => {
    const { armored } = await makeKey();
    const service = serviceWith({ SIGNING_KEY: armored });
    const user = await make.user();
    const json = { name: freshName("unsigned"), auto_init: true };
    const { answer, text } = await logged(() => service("POST", "/user/repos", { as: user, json }));
    expect(answer.status).toBe(500);
    const secret = armored.split("\n")[3] ?? "";
    expect(secret.length).toBeGreaterThan(20);
    expect(text + JSON.stringify(answer.body)).not.toContain(secret);
    const repos = await call("GET", `/users/${user.name}/repos`, { as: user });
    for (const { id } of repos.body) expect(await refsOf(await placeOf(id))).toEqual([]);
  });

  it("with a key that became unusable returns its commits as unverified", async () => {
    const { armored } = await makeSshSigningKey();
    const user = await make.user();
    const { path } = await makeFirst(serviceWith({ SIGNING_KEY: armored }), user);
    const broken = await makeDamaged(Promise.resolve({ armored }));
    const service = serviceWith({ SIGNING_KEY: broken.armored });
    const { status, body } = await service("GET", `${path}/git/commits/main`, { as: user });
    expect([status, body.commit.verification]).toMatchObject([200, { verified: false }]);
    expect(body.commit.verification.signature).toContain("BEGIN SSH SIGNATURE");
  });
});

async function makeDamaged(made: Promise<{ armored: string }>) {
  const lines = (await made).armored.split("\n");
  return { armored: lines.toSpliced(4, 1).join("\n") };
}

describe("a service without a key", () => {
  it("returns no key", async () => {
    const repo = await make.repo(await make.user());
    for (const base of ["", `/repos/${repo.owner}/${repo.name}`]) {
      for (const suffix of ["gpg", "pub", "ssh"]) {
        const { status, body } = await call("GET", `${base}/signing-key.${suffix}`);
        expect([status, body]).toEqual([404, ""]);
      }
    }
  });

  it("does not reveal a repository that the caller may not see", async () => {
    const { armored } = await makeSshSigningKey();
    const service = serviceWith({ SIGNING_KEY: armored });
    const repo = await make.repo(await make.user(), { isPrivate: true, visibility: "private" });
    const path = `/repos/${repo.owner}/${repo.name}/signing-key.pub`;
    expect((await service("GET", path)).status).toBe(404);
    expect((await service("GET", path, { as: await make.user() })).status).toBe(404);
  });
});
