/**
 * Makes the `resultBytes` bytes at `result` from a base and a delta.
 *
 * @param at  Address of the first instruction, after the delta's sizes.
 * @param end End of the delta.
 * @returns False if the delta does not make a content of this size from this base.
 * @see gitformat-pack(5), "Deltified representation".
 */
export function applyDelta(
  base: u32,
  baseBytes: u32,
  at: u32,
  end: u32,
  result: u32,
  resultBytes: u32,
): bool {
  const stop = result + resultBytes;
  let to = result;
  while (at < end) {
    const code: u32 = load<u8>(at++);
    if (code & 0x80) {
      let from: u32 = 0;
      let size: u32 = 0;
      if (code & 0x01) from = load<u8>(at++);
      if (code & 0x02) from |= (<u32>load<u8>(at++)) << 8;
      if (code & 0x04) from |= (<u32>load<u8>(at++)) << 16;
      if (code & 0x08) from |= (<u32>load<u8>(at++)) << 24;
      if (code & 0x10) size = load<u8>(at++);
      if (code & 0x20) size |= (<u32>load<u8>(at++)) << 8;
      if (code & 0x40) size |= (<u32>load<u8>(at++)) << 16;
      if (size === 0) size = 0x10000;
      if (at > end || <u64>from + size > baseBytes || to + size > stop) return false;
      copy(to, base + from, size);
      to += size;
    } else {
      if (code === 0 || at + code > end || to + code > stop) return false;
      copy(to, at, code);
      at += code;
      to += code;
    }
  }
  return to === stop;
}

/** Copies short ranges by itself, in blocks of 16 bytes: up to 15 more are read and written. */
function copy(to: u32, from: u32, size: u32): void {
  if (size > 256) {
    memory.copy(to, from, size);
    return;
  }
  const stop = to + size;
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < stop);
}
