import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { formatLine, formatPkt, pktText, readPkt } from "../../../src/git/wire/pkt-line.ts";

const read = (text: string) => readPkt(encodeUtf8(text), 0);

describe("readPkt", () => {
  it("reads payloads and markers", () => {
    expect(read("0009hello...")).toEqual({
      pkt: { kind: "data", payload: encodeUtf8("hello") },
      next: 9,
    });
    expect(read("0000")?.pkt).toEqual({ kind: "flush" });
    expect(read("0001")?.pkt).toEqual({ kind: "delimiter" });
    expect(read("0002")?.pkt).toEqual({ kind: "response-end" });
    expect(read("0004")?.pkt).toEqual({ kind: "data", payload: new Uint8Array() });
    expect(read("000Ahello!")?.next).toBe(10);
  });

  it.each(["", "0", "000", "0009", "0009hell", "fff0"])(
    "returns undefined for the incomplete packet %j",
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  it.each(["0003", "fff1", "ffff", "xxxx", "-001", "00 9", "0x09", " 009", "00\n9"])(
    "refuses a length of %j",
    (text) => {
      expect(() => read(text)).toThrow(expect.objectContaining({ code: "corrupt" }));
    },
  );
});

describe("formatPkt", () => {
  it("writes packets that readPkt reads, up to the maximum length", () => {
    for (const length of [0, 1, 65515, 65516]) {
      const payload = new Uint8Array(length).fill(7);
      expect(readPkt(formatPkt(payload), 0)).toEqual({
        pkt: { kind: "data", payload },
        next: length + 4,
      });
    }
  });

  it("refuses a payload that does not fit in one packet", () => {
    expect(() => formatPkt(new Uint8Array(65517))).toThrow(
      expect.objectContaining({ code: "limit" }),
    );
  });

  it("ends lines with a line feed, and pktText removes exactly one", () => {
    expect(formatLine("a")).toEqual(encodeUtf8("0006a\n"));
    expect(pktText(encodeUtf8("a\n\n"))).toBe("a\n");
  });
});
