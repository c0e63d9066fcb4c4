/** The field of curve25519. */
const P = 2n ** 255n - 19n;
/** The curve's constant, -121665/121666 in that field. */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Whether 32 bytes are the compressed form of a point of edwards25519.
 *
 * Neither node:crypto nor WebCrypto checks this when it imports a key, and half of all 32-byte
 * strings are not a point: without the check any text of that length would be accepted as a key.
 * The bytes encode y; a matching x exists exactly if (y² - 1) / (d·y² + 1) is a square. The two
 * points with x = 0 are refused as well, because anybody can forge signatures for them.
 *
 * @see RFC 8032 section 5.1.3
 */
export function isEd25519Point(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false;
  const littleEndian = BigInt(`0x${Buffer.from(bytes.toReversed()).toString("hex")}`);
  const y = littleEndian & (2n ** 255n - 1n); // the top bit is the sign of x
  if (y >= P) return false;

  const numerator = y * y - 1n;
  const denominator = D * y * y + 1n;
  // A quotient is a square exactly if the product is.
  return power((numerator * denominator) % P, (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}
