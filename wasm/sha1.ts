import { HASH_STATE, HASH_TAIL, SCHEDULE } from "./layout";

/**
 * Writes the SHA-1 of `length` bytes at `start` to `digest`.
 *
 * @see FIPS 180-4, section 6.1.2.
 */
export function sha1(start: u32, length: u32, digest: u32): void {
  store<u32>(HASH_STATE, 0x67452301);
  store<u32>(HASH_STATE + 4, 0xefcdab89);
  store<u32>(HASH_STATE + 8, 0x98badcfe);
  store<u32>(HASH_STATE + 12, 0x10325476);
  store<u32>(HASH_STATE + 16, 0xc3d2e1f0);
  const rest = length & 63;
  const end = start + length - rest;
  for (let at = start; at < end; at += 64) compress(at);

  const tailBytes: u32 = rest < 56 ? 64 : 128;
  for (let at: u32 = 0; at < 128; at += 16) v128.store(HASH_TAIL + at, i32x4.splat(0));
  let at: u32 = 0;
  for (; at + 8 <= rest; at += 8) store<u64>(HASH_TAIL + at, load<u64>(end + at));
  for (; at < rest; at++) store<u8>(HASH_TAIL + at, load<u8>(end + at));
  store<u8>(HASH_TAIL + rest, 0x80);
  // The length in bits; contents of the kernel are shorter than 2^29 bytes.
  store<u32>(HASH_TAIL + tailBytes - 4, bswap<u32>(length << 3));
  compress(HASH_TAIL);
  if (tailBytes > 64) compress(HASH_TAIL + 64);
  for (let word: u32 = 0; word < 20; word += 4)
    store<u32>(digest + word, bswap<u32>(load<u32>(HASH_STATE + word)));
}

function choose(b: u32, c: u32, d: u32): u32 {
  return (d ^ (b & (c ^ d))) + 0x5a827999;
}

function parity(b: u32, c: u32, d: u32): u32 {
  return (b ^ c ^ d) + 0x6ed9eba1;
}

function majority(b: u32, c: u32, d: u32): u32 {
  return ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
}

function lastParity(b: u32, c: u32, d: u32): u32 {
  return (b ^ c ^ d) + 0xca62c1d6;
}

/** A step's sum. What does not depend on `a`, the result of the step before, is added first. */
function sum(a: u32, mixed: u32, e: u32, word: u32): u32 {
  return mixed + (e + scheduled(word)) + rotl<u32>(a, 5);
}

function scheduled(word: u32): u32 {
  return load<u32>(SCHEDULE + word);
}

function scheduledFour(word: u32): v128 {
  return v128.load(SCHEDULE + word);
}

function compress(block: u32): void {
  for (let word: u32 = 0; word < 64; word += 16) {
    const bytes = v128.load(block + word);
    v128.store(
      SCHEDULE + word,
      v128.shuffle<u8>(bytes, bytes, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12),
    );
  }
  for (let word: u32 = 64; word < 128; word += 4) {
    const mixed =
      scheduled(word - 12) ^ scheduled(word - 32) ^ scheduled(word - 56) ^ scheduled(word - 64);
    store<u32>(SCHEDULE + word, rotl<u32>(mixed, 1));
  }
  // The same rule applied twice, so that four words depend only on earlier ones.
  let sixth = scheduledFour(96);
  let third = scheduledFour(112);
  for (let word: u32 = 128; word < 320; word += 16) {
    const mixed = v128.xor(
      v128.xor(v128.shuffle<u32>(sixth, third, 2, 3, 4, 5), scheduledFour(word - 64)),
      v128.xor(scheduledFour(word - 112), scheduledFour(word - 128)),
    );
    sixth = third;
    third = v128.or(i32x4.shl(mixed, 2), i32x4.shr_u(mixed, 30));
    v128.store(SCHEDULE + word, third);
  }

  let a = load<u32>(HASH_STATE);
  let b = load<u32>(HASH_STATE + 4);
  let c = load<u32>(HASH_STATE + 8);
  let d = load<u32>(HASH_STATE + 12);
  let e = load<u32>(HASH_STATE + 16);
  // Five steps at a time, so that the words need not be moved.
  let word: u32 = 0;
  for (; word < 80; word += 20) {
    e = sum(a, choose(b, c, d), e, word);
    b = rotl<u32>(b, 30);
    d = sum(e, choose(a, b, c), d, word + 4);
    a = rotl<u32>(a, 30);
    c = sum(d, choose(e, a, b), c, word + 8);
    e = rotl<u32>(e, 30);
    b = sum(c, choose(d, e, a), b, word + 12);
    d = rotl<u32>(d, 30);
    a = sum(b, choose(c, d, e), a, word + 16);
    c = rotl<u32>(c, 30);
  }
  for (; word < 160; word += 20) {
    e = sum(a, parity(b, c, d), e, word);
    b = rotl<u32>(b, 30);
    d = sum(e, parity(a, b, c), d, word + 4);
    a = rotl<u32>(a, 30);
    c = sum(d, parity(e, a, b), c, word + 8);
    e = rotl<u32>(e, 30);
    b = sum(c, parity(d, e, a), b, word + 12);
    d = rotl<u32>(d, 30);
    a = sum(b, parity(c, d, e), a, word + 16);
    c = rotl<u32>(c, 30);
  }
  for (; word < 240; word += 20) {
    e = sum(a, majority(b, c, d), e, word);
    b = rotl<u32>(b, 30);
    d = sum(e, majority(a, b, c), d, word + 4);
    a = rotl<u32>(a, 30);
    c = sum(d, majority(e, a, b), c, word + 8);
    e = rotl<u32>(e, 30);
    b = sum(c, majority(d, e, a), b, word + 12);
    d = rotl<u32>(d, 30);
    a = sum(b, majority(c, d, e), a, word + 16);
    c = rotl<u32>(c, 30);
  }
  for (; word < 320; word += 20) {
    e = sum(a, lastParity(b, c, d), e, word);
    b = rotl<u32>(b, 30);
    d = sum(e, lastParity(a, b, c), d, word + 4);
    a = rotl<u32>(a, 30);
    c = sum(d, lastParity(e, a, b), c, word + 8);
    e = rotl<u32>(e, 30);
    b = sum(c, lastParity(d, e, a), b, word + 12);
    d = rotl<u32>(d, 30);
    a = sum(b, lastParity(c, d, e), a, word + 16);
    c = rotl<u32>(c, 30);
  }
  store<u32>(HASH_STATE, load<u32>(HASH_STATE) + a);
  store<u32>(HASH_STATE + 4, load<u32>(HASH_STATE + 4) + b);
  store<u32>(HASH_STATE + 8, load<u32>(HASH_STATE + 8) + c);
  store<u32>(HASH_STATE + 12, load<u32>(HASH_STATE + 12) + d);
  store<u32>(HASH_STATE + 16, load<u32>(HASH_STATE + 16) + e);
}
