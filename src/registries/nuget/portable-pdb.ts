import { formatHex } from "../../lib/hex.ts";

/** `BSJB`, with which metadata of .NET begin. */
const MAGIC = 0x424a5342;
const STREAM_NAME_MAX = 32;
const GUID_BYTES = 16;

/**
 * Reads the id by which debuggers ask for the symbols in a portable PDB: its GUID, and an age that
 * is always `ffffffff`.
 *
 * @returns 40 digits of lower-case hex; undefined for what is no portable PDB.
 * @see ECMA-335, partition II, section 24.2; the specification of Portable PDB, "#Pdb stream".
 */
export function readSymbolsId(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (view.getUint32(0, true) !== MAGIC) return undefined;
    let at = 16 + view.getUint32(12, true);
    const count = view.getUint16(at + 2, true);
    at += 4;
    for (let stream = 0; stream < count; stream++) {
      const offset = view.getUint32(at, true);
      const name = readName(view, at + 8);
      if (name === undefined) return undefined;
      if (name === "#Pdb") return `${formatGuid(view, offset)}ffffffff`;
      // Names end with a zero, and are filled up to a multiple of four bytes.
      at += 8 + 4 * Math.ceil((name.length + 1) / 4);
    }
    return undefined;
  } catch (error) {
    // Some offset lies outside of the file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readName(view: DataView, start: number): string | undefined {
  let name = "";
  for (let at = start; at < start + STREAM_NAME_MAX; at++) {
    const byte = view.getUint8(at);
    if (byte === 0) return name;
    name += String.fromCharCode(byte);
  }
  return undefined;
}

/** A GUID as 32 digits: its first three parts are numbers in little-endian order. */
function formatGuid(view: DataView, at: number): string {
  const number = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  const rest = new Uint8Array(view.buffer, view.byteOffset + at + 8, GUID_BYTES - 8);
  return (
    number(view.getUint32(at, true), 8) +
    number(view.getUint16(at + 4, true), 4) +
    number(view.getUint16(at + 6, true), 4) +
    formatHex(rest)
  );
}
