import { describe, expect, it } from "vitest";

import { parseBase64 } from "../../../src/lib/base64.ts";
import { Failure } from "../../../src/lib/failure.ts";
import { unxz } from "../../../src/registries/archives/unxz.ts";
import { unzstd } from "../../../src/registries/archives/unzstd.ts";

const TEXT = "hello hello hello hello\n";
const BYTES_MAX = 1000;

/** The text as `xz` and `zstd -19` compress it. */
const XZ =
  "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AAXAAxdADQZSe6N6VYKwSGwAABsFO0bO2i7kQABKBjXg7duH7bzfQEAAAAABFla";
const ZSTD = "KLUv/QRobQAAOGhlbGxvIAoBAJlLEah8Lqg=";

const bytesOf = (base64: string): Uint8Array => parseBase64(base64) ?? new Uint8Array();

/** The kind of the refusal; the text where nothing is refused. */
async function outcomeOf(unpack: () => Promise<Uint8Array>): Promise<string> {
  try {
    return new TextDecoder().decode(await unpack());
  } catch (error) {
    if (error instanceof Failure) return error.kind;
    throw error;
  }
}

describe.each([
  ["xz", unxz, XZ],
  ["Zstandard", unzstd, ZSTD],
] as const)("%s", (_name, unpack, base64) => {
  const packed = bytesOf(base64);

  it("is unpacked", async () => {
    expect(new TextDecoder().decode(await unpack(packed, BYTES_MAX))).toBe(TEXT);
  });

  it("is refused beyond a size", async () => {
    expect(await outcomeOf(() => unpack(packed, TEXT.length - 1))).toBe("too_large");
  });

  it("is refused wherever it is cut off", async () => {
    const outcomes = await Promise.all(
      Array.from(packed, (_, end) => outcomeOf(() => unpack(packed.slice(0, end), BYTES_MAX))),
    );
    expect(new Set(outcomes)).toEqual(new Set(["malformed"]));
  });

  it("never fails otherwise, whichever byte is another one", async () => {
    const outcomes = new Set<string>();
    for (const at of packed.keys()) {
      for (const change of [1, 0x40, 0x80, 0xff]) {
        const broken = packed.slice();
        broken[at] = (broken[at] ?? 0) ^ change;
        outcomes.add(await outcomeOf(() => unpack(broken, BYTES_MAX)));
      }
    }
    expect(outcomes).toContain("malformed");
  });

  it.each(["", "text", "\u{1F}\u{8B}"])("is refused as %j", async (text) => {
    expect(await outcomeOf(() => unpack(new TextEncoder().encode(text), BYTES_MAX))).toBe(
      "malformed",
    );
  });
});

describe("a Zstandard frame", () => {
  // SECURITY: a decoder allocates the window before it reads a block.
  it("is refused with a window that no control file needs", async () => {
    const frame = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00]);
    expect(await outcomeOf(() => unzstd(frame, BYTES_MAX))).toBe("malformed");
  });

  it("is refused with another one behind it", async () => {
    const frame = bytesOf(ZSTD);
    const two = new Uint8Array([...frame, ...frame]);
    expect(await outcomeOf(() => unzstd(two, BYTES_MAX))).toBe("malformed");
  });
});
