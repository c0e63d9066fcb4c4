import { createHash } from "node:crypto";

import { formatNatural, formatSshWire } from "../../src/domain/people/keys/ssh-wire.ts";

type Kind = "sk-ssh-ed25519@openssh.com" | "sk-ecdsa-sha2-nistp256@openssh.com";

const APPLICATION = "ssh:";

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest();
const number = (bytes: Uint8Array) => formatNatural(bytes);

/**
 * A software security key that signs with any flags.
 *
 * A client test verifies its signatures with ssh-keygen.
 */
export async function makeSecurityKey(kind: Kind) {
  const isEd25519 = kind.includes("ed25519");
  const algorithm = isEd25519
    ? { name: "Ed25519" }
    : { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  if (!("publicKey" in pair)) throw new Error("one key where there should be two");
  const { publicKey, privateKey } = pair;
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const blob = formatSshWire(
    isEd25519 ? [kind, point, APPLICATION] : [kind, "nistp256", point, APPLICATION],
  );
  return {
    line: `${kind} ${Buffer.from(blob).toString("base64")}`,

    /** An armored signature over `bytes` for git. */
    async sign(bytes: Uint8Array, flags: number): Promise<string> {
      const digest = createHash("sha512").update(bytes).digest();
      const message = Buffer.concat([
        Buffer.from("SSHSIG"),
        formatSshWire(["git", "", "sha512", digest]),
      ]);
      const deed = Uint8Array.of(flags, 0, 0, 0, 7);
      const signed = Buffer.concat([sha256(APPLICATION), deed, sha256(message)]);
      const rawSignature = new Uint8Array(
        await crypto.subtle.sign(algorithm, privateKey, new Uint8Array(signed)),
      );
      const value = isEd25519
        ? rawSignature
        : formatSshWire([number(rawSignature.subarray(0, 32)), number(rawSignature.subarray(32))]);
      const inner = Buffer.concat([formatSshWire([kind, value]), deed]);
      const fields = formatSshWire([blob, "git", "", "sha512", inner]);
      const all = Buffer.concat([Buffer.from("SSHSIG"), Uint8Array.of(0, 0, 0, 1), fields]);
      return `-----BEGIN SSH SIGNATURE-----\n${all.toString("base64")}\n-----END SSH SIGNATURE-----\n`;
    },
  };
}
