import { formatBase64Url } from "../../src/lib/base64.ts";

const RP_ID = "forge.example";
const ORIGIN = "https://forge.example";

/** User present. */
const PRESENT = 0x01;
/** The data contain a new credential. */
const ATTESTED = 0x40;

type Bytes = Uint8Array<ArrayBuffer>;

const concat = (...parts: readonly (Uint8Array | readonly number[])[]): Bytes =>
  Uint8Array.from(parts.flatMap((part) => Array.from(part)));
const text = (value: string): Bytes => new TextEncoder().encode(value);
const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** CBOR (RFC 8949) as far as a key needs it: heads of up to 16 bits. */
const head = (major: number, length: number): number[] =>
  length < 24
    ? [(major << 5) | length]
    : length < 256
      ? [(major << 5) | 24, length]
      : [(major << 5) | 25, length >> 8, length & 255];
const cborText = (value: string): Bytes => concat(head(3, value.length), text(value));
const cborBytes = (value: Uint8Array): Bytes => concat(head(2, value.length), value);

/**
 * A security key in software, with ES256 and no attestation.
 *
 * @see https://www.w3.org/TR/webauthn-3/, sections 6.1 (authenticator data) and 6.5 (attestation)
 */
export class SoftwareKey {
  readonly id: Bytes = crypto.getRandomValues(new Uint8Array(16));
  counter = 0;
  private readonly pair: CryptoKeyPair;

  private constructor(pair: CryptoKeyPair) {
    this.pair = pair;
  }

  static async make(): Promise<SoftwareKey> {
    const algorithm = { name: "ECDSA", namedCurve: "P-256" };
    const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    return new SoftwareKey(pair);
  }

  /** What a browser sends for a new credential. */
  async create(challenge: string, origin = ORIGIN) {
    const raw = await crypto.subtle.exportKey("raw", this.pair.publicKey);
    const point = new Uint8Array(raw);
    // COSE: kty 2 (EC2), alg -7 (ES256), crv 1 (P-256), x, y.
    const publicKey = concat(
      [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21],
      cborBytes(point.subarray(1, 33)),
      [0x22],
      cborBytes(point.subarray(33)),
    );
    const credential = concat(new Uint8Array(16), [0, this.id.length], this.id, publicKey);
    const data = concat(await this.authenticatorData(PRESENT | ATTESTED), credential);
    const attestation = concat(
      head(5, 3),
      cborText("fmt"),
      cborText("none"),
      cborText("attStmt"),
      head(5, 0),
      cborText("authData"),
      cborBytes(data),
    );
    return this.answer({
      clientDataJSON: formatBase64Url(clientData("webauthn.create", challenge, origin)),
      attestationObject: formatBase64Url(attestation),
    });
  }

  /** What a browser sends for a sign-in. */
  async get(challenge: string, origin = ORIGIN) {
    const client = clientData("webauthn.get", challenge, origin);
    const data = await this.authenticatorData(PRESENT);
    const algorithm = { name: "ECDSA", hash: "SHA-256" };
    const signed = concat(data, await sha256(client));
    const signature = await crypto.subtle.sign(algorithm, this.pair.privateKey, signed);
    return this.answer({
      clientDataJSON: formatBase64Url(client),
      authenticatorData: formatBase64Url(data),
      signature: formatBase64Url(toDer(new Uint8Array(signature))),
    });
  }

  private answer(response: Record<string, string>) {
    const id = formatBase64Url(this.id);
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  private async authenticatorData(flags: number): Promise<Bytes> {
    this.counter += 1;
    return concat(await sha256(text(RP_ID)), [flags, 0, 0, 0, this.counter]);
  }
}

const clientData = (type: string, challenge: string, origin: string): Bytes =>
  text(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

/** Two integers of 32 bytes as DER. */
function toDer(signature: Uint8Array): Bytes {
  const integer = (bytes: Uint8Array): Bytes => {
    const from = bytes.findIndex((byte) => byte !== 0);
    const digits = bytes.subarray(from);
    const positive = (digits[0] ?? 0) > 127 ? concat([0], digits) : digits;
    return concat([0x02, positive.length], positive);
  };
  const body = concat(integer(signature.subarray(0, 32)), integer(signature.subarray(32)));
  return concat([0x30, body.length], body);
}
