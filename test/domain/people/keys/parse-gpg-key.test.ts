import { Buffer } from "node:buffer";
import { armor, enums, generateKey, readKey } from "openpgp";
import type { AnyPacket, PacketList, PrivateKey } from "openpgp";
import { describe, expect, it } from "vitest";
import { parseGpgKeys } from "../../../../src/domain/people/keys/parse-gpg-key.ts";
import type { ParsedGpgKey } from "../../../../src/domain/people/keys/read-gpg-key.ts";
import { Failure } from "../../../../src/lib/failure.ts";
import { only } from "../../../../src/lib/only.ts";
import * as known from "./fixtures.ts";
import type { GpgFixture } from "./fixtures.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");

const ACCEPTED: Record<string, GpgFixture> = {
  "Ed25519 with an encryption subkey": known.ADA,
  "RSA with several user ids and expiring parts": known.GRACE,
  "an expired key": known.EXPIRED,
  "NIST curves": known.NIST,
  "a key that only certifies, with a revoked subkey": known.CERTIFY_ONLY,
  "a revoked key": known.REVOKED,
  "DSA and Elgamal": known.DSA_ELGAMAL,
  "a primary key that encrypts, without an address": known.ENCRYPTING_PRIMARY,
  "a key whose signatures have no flags": known.WITHOUT_FLAGS,
  "a user id that was revoked and certified again": known.CERTIFIED_AGAIN,
  "a key with a direct-key signature alone": known.WITHOUT_USER_ID,
  "a signing subkey with its consent": known.VICTIM,
  "three keys in one block": known.THREE_IN_ONE_BLOCK,
};

describe("parseGpgKeys", () => {
  it.each(Object.entries(ACCEPTED))("parses %s like gpg", async (_, { armored, printed }) => {
    const keys = await parseGpgKeys(armored, NOW);

    const read = keys.flatMap((key) => [brief(key)].concat(key.subkeys.map(brief)));
    expect(read).toEqual(parseListing(printed));
  });

  it("lists email addresses in lower case, without duplicates and revoked user ids", async () => {
    const { emails } = only(await parseGpgKeys(known.GRACE.armored, NOW));
    expect(emails.toSorted()).toEqual(["grace@example.org", "grace@work.example"]);
  });

  it("returns the packet of each key alone, without armor", async () => {
    const { publicKeyBase64, subkeys } = only(await parseGpgKeys(known.ADA.armored, NOW));
    const exported = Buffer.from(known.ADA.armored.split("\n").slice(2, -3).join(""), "base64");

    // Tag 6 and the length in the new format; gpg exports the same packet with a header in the old
    // format.
    const packet = Buffer.from(publicKeyBase64, "base64");
    expect(packet.toString("hex", 0, 2)).toBe("c633");
    expect(packet.subarray(2)).toEqual(exported.subarray(2, 2 + 0x33));
    const subkeyPacket = Buffer.from(only(subkeys).publicKeyBase64, "base64");
    expect(subkeyPacket.toString("hex", 0, 2)).toBe("ce38");
    expect(exported.includes(subkeyPacket.subarray(2))).toBe(true);
  });

  it("normalises the armor, and parses the same from it", async () => {
    const pasted = `Here it is:\r\n\r\n${known.ADA.armored.replaceAll("\n", "\r\n")}\r\nBye`;
    const key = only(await parseGpgKeys(pasted, NOW));

    expect(key.armored).toMatch(/^-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n[^:]+\n-----END/);
    expect(await parseGpgKeys(key.armored, NOW)).toEqual([key]);
  });

  it("parses several blocks in order", async () => {
    const text = [known.NIST, known.ADA].map(({ armored }) => armored).join("\n");
    const keys = await parseGpgKeys(text, NOW);
    expect(keys.map((key) => key.emails)).toEqual([["nist@example.org"], ["ada@example.org"]]);
  });

  it("accepts a key made by a computer whose clock is somewhat ahead", async () => {
    const [key] = await parseGpgKeys(known.ADA.armored, Date.parse("2024-01-01T11:30:00Z"));
    expect(key?.emails).toEqual(["ada@example.org"]);
    await expect(
      parseGpgKeys(known.ADA.armored, Date.parse("2024-01-01T10:30:00Z")),
    ).rejects.toThrow("the key has no valid user id of its own");
  });

  // A user id without a self-signature proves nothing: this key contains boss@example.org.
  it("omits a user id that the key did not sign", async () => {
    const { emails } = only(await parseGpgKeys(known.WITHOUT_FLAGS.armored, NOW));
    expect(emails).toEqual(["noflags@example.org"]);
  });

  // gpg lists such a subkey as signing and refuses its signatures later; here the stored flag is
  // used later.
  it("allows no signatures by a subkey that did not cross-certify the key", async () => {
    for (const armored of [known.THIEF, known.THIEF_WITH_COPIED_CONSENT]) {
      const { subkeys } = only(await parseGpgKeys(armored, NOW));
      expect(subkeys).toMatchObject([{ keyId: "8A64485B082811AD", canSign: false }]);
    }
  });

  it("omits a subkey that the key did not bind", async () => {
    expect(only(await parseGpgKeys(known.GRAFTED, NOW)).subkeys).toEqual([]);
  });

  it.each([
    ["an empty text", "", "there is no armored GPG public key in the text"],
    ["garbage", "hello", "there is no armored GPG public key in the text"],
    ["an SSH key", known.ED25519.line, "there is no armored GPG public key in the text"],
    ["a signature", known.ADA_SIGNED_LINE, "this is a GPG signature, not a public key"],
    [
      "a signature after a key",
      `${known.ADA.armored}${known.ADA_SIGNED_LINE}`,
      "this is a GPG signature, not a public key",
    ],
    ["a message", block("MESSAGE", "AAAA"), "this is a GPG message, not a public key"],
    [
      "a private key",
      block("PRIVATE KEY BLOCK", "AAAA"),
      "this is a private key and must not be uploaded: send its public half",
    ],
    [
      "a private key after a public one",
      known.ADA.armored + block("PRIVATE KEY BLOCK", "AAAA"),
      "this is a private key and must not be uploaded: send its public half",
    ],
    [
      "a revocation certificate",
      known.REVOCATION_CERTIFICATE,
      "this is not a valid GPG public key",
    ],
    [
      "a block without a key",
      block("PUBLIC KEY BLOCK", "AAAA"),
      "this is not a valid GPG public key",
    ],
    ["an empty block", block("PUBLIC KEY BLOCK", ""), "this is not a valid GPG public key"],
    [
      "a block without an end",
      known.ADA.armored.slice(0, 300),
      "this is not a valid GPG public key",
    ],
    ["a key without a signature", known.UNSIGNED, "the key has no valid user id of its own"],
    ["a key twice", known.ADA.armored.repeat(2), "the same key is there more than once"],
    [
      "a subkey under two keys",
      known.VICTIM.armored + known.THIEF,
      "the same key is there more than once",
    ],
    ["too many keys", known.ADA.armored.repeat(17), "there are more than 16 keys"],
    [
      "a text that is too long",
      known.ADA.armored + "x".repeat(512 * 1024),
      "the key is too long: at most 524288 characters are allowed",
    ],
  ])("refuses %s", async (_, text, message) => {
    await expect(parseGpgKeys(text, NOW)).rejects.toThrow(new Failure("invalid", message));
  });

  it("refuses a private key with the label of a public key", async () => {
    const { privateKey } = await makeKey();
    await expect(parseGpgKeys(armorAsPublic(privateKey.toPacketList()), NOW)).rejects.toThrow(
      "this is a private key and must not be uploaded: send its public half",
    );
  });

  // Each signature costs a check: a text has room for four thousand, which would take seconds.
  it("refuses a key with too many self-signatures", async () => {
    const key = await readKey({ armoredKey: known.EXPIRED.armored });
    const packets = key.toPacketList();
    const certification = only([...packets.filterByTag(enums.packet.signature)]);
    packets.push(...Array.from({ length: 256 }, () => certification));
    await expect(parseGpgKeys(armorAsPublic(packets), NOW)).rejects.toThrow(
      "there are more than 256 signatures to check",
    );
  });

  // The library would compute with them for minutes whenever a signature is displayed.
  it.each([
    ["an RSA exponent", "rsa", "e", 5],
    ["an RSA modulus", "rsa", "n", 2049],
    ["the exponent of an RSA subkey", "subkey", "e", 5],
    ["a DSA group", "dsa", "q", 65],
    ["a DSA modulus", "dsa", "p", 2049],
  ])("refuses a key with %s larger than any in use", async (_, which, name, bytes) => {
    const userIDs = [{ email: "ada@example.org" }];
    const made = await generateKey({ type: "rsa", rsaBits: 2048, userIDs, format: "object" });
    const key =
      which === "dsa" ? await readKey({ armoredKey: known.DSA_ELGAMAL.armored }) : made.publicKey;
    const { keyPacket } = which === "subkey" ? only(key.subkeys) : key;
    Object.assign(keyPacket.publicParams, { [name]: new Uint8Array(bytes).fill(255) });
    await expect(parseGpgKeys(key.armor(), NOW)).rejects.toThrow("the key is too large");
  });

  it("refuses or parses a key that is truncated or damaged anywhere, without another error", async () => {
    const bytes = (await readKey({ armoredKey: known.EXPIRED.armored })).write();
    const bugs: unknown[] = [];
    for (let at = 0; at < bytes.length; at += 3) {
      const bent = Uint8Array.from(bytes);
      bent[at] = (bent[at] ?? 0) ^ 0x81;
      for (const damaged of [bent, bytes.subarray(0, at)]) {
        const text = armor(enums.armor.publicKey, damaged);
        await parseGpgKeys(text, NOW).catch((error: unknown) => {
          if (!(error instanceof Failure)) bugs.push(error);
        });
      }
    }
    expect(bugs).toEqual([]);
  });
});

type Brief = { id: string; fingerprint: string; usage: string; expires: string; emails: string[] };

function brief(key: Omit<ParsedGpgKey, "armored" | "subkeys">): Brief & { made: string } {
  const usage = [
    key.canSign && "s",
    key.canCertify && "c",
    key.canEncryptComms && key.canEncryptStorage && "e",
    key.isRevoked && "revoked",
  ];
  return {
    id: key.keyId,
    fingerprint: key.fingerprint,
    usage: usage.filter(Boolean).join(" "),
    made: String(key.createdAt / 1000),
    expires: key.expiresAt === null ? "" : String(key.expiresAt / 1000),
    emails: key.emails.toSorted(),
  };
}

/**
 * Parses gpg's colon listing into the same form. @see DETAILS of GnuPG, "Format of the colon
 * listings"
 */
function parseListing(printed: string): Brief[] {
  const keys: (Brief & { made: string })[] = [];
  for (const line of printed.trim().split("\n")) {
    const [type, validity, , , id = "", made = "", expires = "", , , text = "", , can = ""] =
      line.split(":");
    const current = keys.at(-1);
    if (type === "pub" || type === "sub") {
      const usage = ["s", "c", "e"].filter((letter) => can.includes(letter));
      if (validity === "r") usage.push("revoked");
      keys.push({ id, fingerprint: "", usage: usage.join(" "), made, expires, emails: [] });
    } else if (type === "fpr" && current) {
      current.fingerprint = text;
    } else if (type === "uid" && current && !isRevokedAlone(validity, current)) {
      const [email] = /[^\s<]+@[^\s>]+/.exec(text.toLowerCase()) ?? [];
      current.emails = [...new Set([...current.emails, email ?? []].flat())].toSorted();
    }
  }
  return keys;
}

/** gpg reports the user ids of a revoked key as revoked too, but the parser lists them. */
function isRevokedAlone(validity: string | undefined, { usage }: Brief): boolean {
  return validity === "r" && !usage.includes("revoked");
}

function block(label: string, body: string): string {
  return `-----BEGIN PGP ${label}-----\n\n${body}\n-----END PGP ${label}-----\n`;
}

function armorAsPublic<T extends AnyPacket>(packets: PacketList<T>): string {
  return armor(enums.armor.publicKey, packets.write());
}

function makeKey(): Promise<{ privateKey: PrivateKey }> {
  return generateKey({
    userIDs: [{ name: "Ada", email: "ada@example.org" }],
    date: new Date(NOW),
    format: "object",
  });
}
