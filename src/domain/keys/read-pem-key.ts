import { createPublicKey, type JsonWebKey } from "node:crypto";
import { parseBase64Url } from "../../lib/base64.ts";
import { invalid } from "../../lib/failure.ts";
import { formatNatural, formatSshWire } from "./ssh-wire.ts";

const CURVE_NAMES = new Map([
  ["P-256", "nistp256"],
  ["P-384", "nistp384"],
  ["P-521", "nistp521"],
]);

/**
 * Turns the content of a PEM public key into the blob that SSH has for the same key.
 *
 * @param der  The decoded content of the block.
 * @param type `pkcs1` for RSA PUBLIC KEY, `spki` for PUBLIC KEY.
 * @throws Failure `invalid` when it is no key, has bytes left over, or is of a type SSH does not know.
 * @see RFC 8017 appendix A.1.1, RFC 5280 section 4.1.2.7
 */
export function readPemKey(der: Buffer, type: "pkcs1" | "spki"): Uint8Array {
  const { kty, crv = "", n = "", e = "", x = "", y = "" } = importKey(der, type);
  const curve = CURVE_NAMES.get(crv);
  if (kty === "RSA") {
    return formatSshWire(["ssh-rsa", formatNatural(bytesOf(e)), formatNatural(bytesOf(n))]);
  }
  if (kty === "EC" && curve) {
    const point = Buffer.concat([Uint8Array.of(4), bytesOf(x), bytesOf(y)]);
    return formatSshWire([`ecdsa-sha2-${curve}`, curve, point]);
  }
  if (kty === "OKP" && crv === "Ed25519") return formatSshWire(["ssh-ed25519", bytesOf(x)]);
  throw invalid(`key type is not allowed: ${crv}`);
}

function importKey(der: Buffer, type: "pkcs1" | "spki"): JsonWebKey {
  // Asked before importing, because workerd imports no DSA key and could not say what is wrong.
  if (der.includes(DSA_OID)) throw invalid("key type is not allowed: dsa");
  let jwk: JsonWebKey;
  let exported: Buffer;
  try {
    jwk = createPublicKey({ key: der, format: "der", type }).export({ format: "jwk" });
    // By way of the JWK, because Node exports no PKCS#1 from a key that it imported from PKCS#1.
    exported = createPublicKey({ key: jwk, format: "jwk" }).export({ format: "der", type });
  } catch {
    throw invalid("the PEM block holds no public key of a known type");
  }
  // Importing ignores what follows the key.
  if (!exported.equals(der)) throw invalid("there is data left over after the key");
  return jwk;
}

/** 1.2.840.10040.4.1 in DER, with its tag and length. */
const DSA_OID = Buffer.from("06072a8648ce380401", "hex");

/** The bytes of a field of a JSON Web Key. */
function bytesOf(field: string): Uint8Array {
  const bytes = parseBase64Url(field);
  if (!bytes) throw new Error("an exported key is no JSON Web Key");
  return bytes;
}
