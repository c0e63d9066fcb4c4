import { createPublicKey, type JsonWebKey } from "node:crypto";
import { parseBase64Url } from "../../../lib/base64.ts";
import { invalid } from "../../../lib/failure.ts";
import { formatNatural, formatSshWire } from "./ssh-wire.ts";

const CURVE_NAMES = new Map([
  ["P-256", "nistp256"],
  ["P-384", "nistp384"],
  ["P-521", "nistp521"],
]);

/**
 * Converts the content of a PEM public key to SSH's blob for the same key.
 *
 * @param der  The decoded content of the block.
 * @param type `pkcs1` for RSA PUBLIC KEY, `spki` for PUBLIC KEY.
 * @throws Failure `invalid` for bytes that are not a key, bytes left over, or a key type that SSH
 * does not support.
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
  // Checked before importing, because workerd can't import DSA keys and would report no specific
  // error.
  if (der.includes(DSA_OID)) throw invalid("key type is not allowed: dsa");
  let jwk: JsonWebKey;
  let exported: Buffer;
  try {
    jwk = createPublicKey({ key: der, format: "der", type }).export({ format: "jwk" });
    // Exported from the JWK, because Node can't export PKCS#1 from a key that it imported from
    // PKCS#1.
    exported = createPublicKey({ key: jwk, format: "jwk" }).export({ format: "der", type });
  } catch {
    throw invalid("the PEM block holds no public key of a known type");
  }
  // Importing ignores bytes after the key.
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
