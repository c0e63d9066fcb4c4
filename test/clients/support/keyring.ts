import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { ENVIRONMENT, makeDirectory } from "./git.ts";

/** An empty gpg keyring that is removed at the end of the test. */
export interface Keyring {
  /** Environment that makes git use the keyring. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs gpg without prompts. */
  gpg(args: readonly string[], input?: string): string;
  /** Replaces the options that gpg always uses. */
  setOptions(...options: string[]): void;
  /** Creates a key without a passphrase, and returns its fingerprint. */
  addKey(userId: string, ...options: readonly string[]): string;
  /** The armored revocation certificate of the key. */
  readRevocation(fingerprint: string): string;
}

export function makeKeyring(): Keyring {
  // A short path, because gpg creates its sockets in it.
  const home = mkdtempSync(join(tmpdir(), "gpg-"));
  chmodSync(home, 0o700);
  const env = { GNUPGHOME: home };
  const gpg = (args: readonly string[], input = "") =>
    run("gpg", ["--batch", "--yes", "--quiet", "--passphrase", "", ...args], input, env);
  onTestFinished(() => {
    run("gpgconf", ["--kill", "all"], "", env);
    rmSync(home, { recursive: true, force: true });
  });
  return {
    env,
    gpg,
    setOptions: (...options) =>
      writeFileSync(join(home, "gpg.conf"), options.map((option) => `${option}\n`).join("")),
    addKey(userId, ...options) {
      gpg([...options, "--quick-generate-key", userId, "ed25519", "cert,sign", "1y"]);
      const listed = gpg(["--with-colons", "--list-keys", `=${userId}`]);
      return /^fpr:+(\w+):/m.exec(listed)?.[1] ?? "";
    },
    readRevocation: (fingerprint) =>
      readFileSync(join(home, "openpgp-revocs.d", `${fingerprint}.rev`), "utf8").replace(
        /^:(?=-----BEGIN)/m,
        "",
      ),
  };
}

/** A new key pair from ssh-keygen, without a passphrase. */
export function makeSshPair(type: string, bits: number) {
  const path = join(makeDirectory(), "key");
  sshKeygen(["-q", "-t", type, "-b", String(bits), "-N", "", "-C", "", "-f", path]);
  const line = readFileSync(`${path}.pub`, "utf8").trim();
  return { path, line, privateKey: readFileSync(path, "utf8") };
}

/** Runs ssh-keygen, which must succeed. */
export const sshKeygen = (args: readonly string[], input = ""): string =>
  run("ssh-keygen", args, input);

function run(
  program: string,
  args: readonly string[],
  input: string,
  env: Readonly<Record<string, string>> = {},
): string {
  return execFileSync(program, args, {
    env: { ...ENVIRONMENT, ...env },
    input,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
  });
}
