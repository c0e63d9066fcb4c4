import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { openSshPrivateKey } from "../../../src/domain/code/signatures/ssh-private-key.ts";
import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { startService } from "../../scripts/support/service.ts";
import { makeSecurityKey } from "../../support/security-key.ts";
import {
  type Caller,
  callApi,
  makeRepo,
  makeUser,
  type Repo,
  serviceUrl,
} from "../support/forge.ts";
import { clone, git, makeDirectory, makeWork, tryGit } from "../support/git.ts";
import type { Outcome } from "../support/run-program.ts";
import { type Keyring, makeKeyring, makeSshPair, sshKeygen } from "../support/keyring.ts";

interface Verification {
  verified: boolean;
  reason: string;
  signer: { name: string; email: string } | null;
}

const emailOf = ({ name }: Caller): string => `${name}@example.com`;

/** A working tree in which git commits as a user, with configuration options. */
async function makeSigner(user: Caller, config: Record<string, string>, keyring?: Keyring) {
  const work = await makeWork();
  for (const [name, value] of Object.entries(config)) await git(work, ["config", name, value]);
  const env = { GIT_COMMITTER_EMAIL: emailOf(user), ...keyring?.env };
  const run = async (...args: string[]): Promise<string> => {
    const { code, output, stdout } = await tryGit(work, args, "", env);
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${output}`);
    return stdout.trim();
  };
  return {
    work,
    run,
    commit: async (message: string, ...options: string[]): Promise<string> => {
      await run(...options, "commit", "--quiet", "--allow-empty", "-S", "-m", message);
      return run("rev-parse", "HEAD");
    },
    /** Whether git considers a signature valid. */
    trusts: async (oid: string, kind = "commit"): Promise<boolean> =>
      (await tryGit(work, [`verify-${kind}`, oid], "", env)).code === 0,
  };
}

/** The service's verification of all commits of a branch, by id. */
async function readVerifications(repo: Repo, branch = "main"): Promise<Map<string, Verification>> {
  const query = `sha=${branch}&stat=false&files=false`;
  const response = await fetch(`${serviceUrl}/api/v1${repo.path}/commits?${query}`);
  const commits = (await response.json()) as {
    sha: string;
    commit: { verification: Verification };
  }[];
  return new Map(commits.map(({ sha, commit }) => [sha, commit.verification]));
}

const readTag = async (repo: Repo, oid: string): Promise<Verification> => {
  const response = await fetch(`${serviceUrl}/api/v1${repo.path}/git/tags/${oid}`);
  return ((await response.json()) as { verification: Verification }).verification;
};

const good = (user: Caller, keyName: string) => ({
  verified: true,
  reason: `${user.name} / ${keyName}`,
  signer: { name: user.name, email: emailOf(user) },
});
const bad = (reason: string) => ({ verified: false, reason: `gpg.error.${reason}`, signer: null });

/** A commit whose content differs from the signed one. */
async function forge({ work, run }: Awaited<ReturnType<typeof makeSigner>>, oid: string) {
  const content = await git(work, ["cat-file", "commit", oid]);
  const forged = `${content.replace("well signed", "ill signed")}\n`;
  const forgedOid = await git(work, ["hash-object", "-t", "commit", "-w", "--stdin"], forged);
  await run("branch", "forged", forgedOid);
  return forgedOid;
}

describe("the service and git agree", () => {
  it("on signatures of gpg", async () => {
    const user = await makeUser();
    const keyring = makeKeyring();
    const fingerprint = keyring.addKey(`Ada <${emailOf(user)}>`);
    keyring.gpg(["--quick-add-key", fingerprint, "rsa2048", "sign", "1y"]);
    const listed = keyring.gpg(["--with-colons", "--list-keys", fingerprint]);
    const subkey = /^sub:[^:]*:[^:]*:[^:]*:(\w+):/m.exec(listed)?.[1] ?? "";
    const key = fingerprint.slice(-16);
    const armored = keyring.gpg(["--armor", "--export", fingerprint]);
    await callApi(user, "POST", "/user/gpg_keys", { armored_public_key: armored });

    const signer = await makeSigner(user, { "user.signingkey": fingerprint }, keyring);
    const byKey = await signer.commit("well signed", "-c", `user.signingkey=${fingerprint}!`);
    const bySubkey = await signer.commit("well signed");
    const inLatin1 = await signer.commit("grüßt", "-c", "i18n.commitEncoding=iso-8859-1");
    keyring.setOptions("textmode");
    const asText = await signer.commit("a text");
    keyring.setOptions("digest-algo SHA1");
    const bySha1 = await signer.commit("weakly signed");
    keyring.setOptions("digest-algo SHA512");
    const bySha512 = await signer.commit("strongly signed");
    const forged = await forge(signer, byKey);
    await signer.run("tag", "-s", "-m", "One", "v1");
    const repo = await makeRepo(user);
    await signer.run("push", "--quiet", repo.ownUrl, "main", "forged", "v1");

    const verifications = await readVerifications(repo);
    for (const [oid, keyName] of [
      [byKey, key],
      [bySubkey, subkey],
      [inLatin1, subkey],
      [asText, subkey],
      [bySha512, subkey],
    ] as const) {
      expect(verifications.get(oid)).toMatchObject(good(user, keyName));
      expect(await signer.trusts(oid)).toBe(true);
    }
    expect(verifications.get(bySha1)).toMatchObject(bad("generate_hash"));
    const toldForged = (await readVerifications(repo, "forged")).get(forged);
    expect(toldForged).toMatchObject(bad("probable_bad_signature"));
    expect(await signer.trusts(forged)).toBe(false);
    const tag = await signer.run("rev-parse", "v1");
    expect(await readTag(repo, tag)).toMatchObject(good(user, subkey));
    expect(await signer.trusts(tag, "tag")).toBe(true);
  });

  it("on expired and revoked keys", async () => {
    const user = await makeUser();
    const keyring = makeKeyring();
    const ended = keyring.addKey(
      `Old <${emailOf(user)}>`,
      "--faked-system-time",
      "20200101T000000",
    );
    const revoked = keyring.addKey(`Lost <${emailOf(user)}>`);
    const signer = await makeSigner(user, {}, keyring);
    keyring.setOptions("faked-system-time 20200601T000000");
    const inTime = await signer.commit("in time", "-c", `user.signingkey=${ended}`);
    keyring.setOptions();
    const byLost = await signer.commit("lost", "-c", `user.signingkey=${revoked}`);
    keyring.gpg(["--import"], keyring.readRevocation(revoked));
    for (const fingerprint of [ended, revoked]) {
      const armored = keyring.gpg(["--armor", "--export", fingerprint]);
      await callApi(user, "POST", "/user/gpg_keys", { armored_public_key: armored });
    }
    const repo = await makeRepo(user);
    await signer.run("push", "--quiet", repo.ownUrl, "main");

    const verifications = await readVerifications(repo);
    expect(verifications.get(inTime)).toMatchObject(good(user, ended.slice(-16)));
    expect(verifications.get(byLost)).toMatchObject(bad("probable_bad_signature"));
    expect(await signer.trusts(byLost)).toBe(false);
  });

  it.each([
    ["ed25519", 256],
    ["ecdsa", 256],
    ["ecdsa", 384],
    ["ecdsa", 521],
    ["rsa", 3072],
  ])("on signatures of ssh-keygen: %s of %i bits", async (type, bits) => {
    const user = await makeUser();
    const { path, line } = makeSshPair(type, bits);
    await callApi(user, "POST", "/user/keys", { title: "laptop", key: line });
    const allowed = join(makeDirectory(), "allowed");
    writeFileSync(allowed, `${emailOf(user)} ${line}\n`);
    const signer = await makeSigner(user, {
      "gpg.format": "ssh",
      "user.signingkey": path,
      "gpg.ssh.allowedSignersFile": allowed,
    });
    const signed = await signer.commit("well signed");
    const forged = await forge(signer, signed);
    await signer.run("tag", "-s", "-m", "One", "v1");
    const repo = await makeRepo(user);
    await signer.run("push", "--quiet", repo.ownUrl, "main", "forged", "v1");

    const fingerprint = sshKeygen(["-lf", `${path}.pub`]).split(" ")[1] ?? "";
    expect((await readVerifications(repo)).get(signed)).toMatchObject(good(user, fingerprint));
    expect(await signer.trusts(signed)).toBe(true);
    const verifications = (await readVerifications(repo, "forged")).get(forged);
    expect(verifications).toMatchObject(bad("probable_bad_signature"));
    expect(await signer.trusts(forged)).toBe(false);
    const tag = await signer.run("rev-parse", "v1");
    expect(await readTag(repo, tag)).toMatchObject(good(user, fingerprint));
    expect(await signer.trusts(tag, "tag")).toBe(true);
  });
});

describe("a commit or tag that the service signs", () => {
  it("is valid for gpg, with the public key that the service shows", async () => {
    const owner = makeKeyring();
    const fingerprint = owner.addKey("Forge <forge@forge.example>");
    const data = mkdtempSync(join(tmpdir(), "edgeforge-signing-"));
    const checkout = { path: inProject("."), remove: () => {} };
    const service = await startService(checkout, {
      EDGEFORGE_DATA: data,
      EDGEFORGE_ADMIN_USER: "root",
      EDGEFORGE_ADMIN_PASSWORD: "correct horse battery",
      SIGNING_KEY: owner.gpg(["--armor", "--export-secret-keys", fingerprint]),
    });
    onTestFinished(async () => {
      await service.stop();
      rmSync(data, { recursive: true, force: true });
    });
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${service.url}/api/v1${path}`, {
        method,
        headers: {
          Authorization: `Basic ${btoa("root:correct horse battery")}`,
          "Content-Type": "application/json",
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text;
    };
    await call("POST", "/user/repos", { name: "signed", auto_init: true });
    const content = btoa("a file\n");
    const added = await call("POST", "/repos/root/signed/contents/file", { content });
    const addedFile = JSON.parse(added) as { verification: Verification };
    expect(addedFile.verification).toMatchObject({
      verified: true,
      reason: `Edgeforge / ${fingerprint.slice(-16)}`,
    });
    await call("POST", "/repos/root/signed/tags", { tag_name: "v1", message: "One" });

    const visitor = makeKeyring();
    visitor.gpg(["--import"], await call("GET", "/signing-key.gpg"));
    const work = await clone(`${service.url}/root/signed.git`);
    const run = (...args: string[]): Promise<Outcome> => tryGit(work, args, "", visitor.env);
    for (const args of [
      ["verify-commit", "HEAD", "HEAD~1"],
      ["verify-tag", "v1"],
    ]) {
      const { code, output } = await run(...args);
      expect(code, output).toBe(0);
      expect(output).toContain("Good signature from");
    }
    const { stdout } = await run("log", "--show-signature", "--format=%G? %GK %ae %ce");
    const line = `U ${fingerprint.slice(-16)} root@edgeforge.localhost root@edgeforge.localhost`;
    expect(stdout.split("\n").filter((each) => each === line)).toHaveLength(2);
  });

  it.each([
    ["ed25519", 256],
    ["ecdsa", 256],
    ["ecdsa", 384],
    ["ecdsa", 521],
    ["rsa", 2048],
  ])("with a key of ssh-keygen is valid for git: %s of %i bits", async (type, bits) => {
    const { privateKey, line } = makeSshPair(type, bits);
    const { sign, kind, publicKey } = await openSshPrivateKey(privateKey);
    expect(`${kind} ${Buffer.from(publicKey).toString("base64")}`).toBe(line);
    const work = await makeWork();
    const treeOid = await git(work, ["mktree"]);
    const who = "Forge <forge@forge.example> 1700000000 +0000";
    const content = `tree ${treeOid}\nauthor ${who}\ncommitter ${who}\n\nChange\n`;
    const signature = (await sign(encodeUtf8(content))).trimEnd().replaceAll("\n", "\n ");
    const signed = content.replace("\n\n", `\ngpgsig ${signature}\n\n`);
    const oid = await git(work, ["hash-object", "-t", "commit", "-w", "--stdin"], signed);
    const allowed = join(work, "allowed");
    writeFileSync(allowed, `forge@forge.example ${line}\n`);
    await git(work, ["config", "gpg.ssh.allowedSignersFile", allowed]);
    const { code, output } = await tryGit(work, ["verify-commit", oid]);
    expect(code, output).toBe(0);
    expect(output).toContain('Good "git" signature for forge@forge.example');
  });
});

describe("the security keys of the tests", () => {
  it.each(["sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"] as const)(
    "create signatures that ssh-keygen accepts: %s",
    async (kind) => {
      const key = await makeSecurityKey(kind);
      const path = join(makeDirectory(), "signature");
      writeFileSync(path, await key.sign(encodeUtf8("a text\n"), 0b1));
      const check = ["-Y", "check-novalidate", "-n", "git", "-s", path];
      expect(sshKeygen(check, "a text\n")).toContain('Good "git" signature');
      expect(() => sshKeygen(check, "another\n")).toThrow("Command failed");
    },
  );
});
