import { createDecipheriv } from "node:crypto";

import { describe, expect, it } from "vitest";

import { seal, unseal } from "../../src/auth/seal.ts";
import type { SealingKey } from "../../src/config.ts";

const makeKey = (name: string): SealingKey => ({
  name,
  bytes: crypto.getRandomValues(new Uint8Array(32)),
});

describe("seal", () => {
  it("produces a different text each time, which the same key unseals", async () => {
    const keys = [makeKey("one")];
    const [first, second] = [
      await seal(keys, "hunter2 é", "x"),
      await seal(keys, "hunter2 é", "x"),
    ];

    expect(await unseal(keys, first, "x")).toEqual({ kind: "open", text: "hunter2 é" });
    expect(first).toMatch(/^1\.one\.[0-9A-Za-z+/=]+$/);
    expect(first).not.toBe(second);
    expect(first).not.toContain("hunter2");
  });

  it("is standard AES-256-GCM", async () => {
    const key = makeKey("one");
    const [, , base64 = ""] = (await seal([key], "hunter2", "x")).split(".");
    const bytes = Buffer.from(base64, "base64");

    const decipher = createDecipheriv("aes-256-gcm", key.bytes, bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from("1.one.x"));
    decipher.setAuthTag(bytes.subarray(-16));
    const text =
      decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
    expect(text).toBe("hunter2");
  });

  it("seals with the first key and unseals with any, so that keys can be rotated", async () => {
    const [old, fresh] = [makeKey("old"), makeKey("new")];
    const before = await seal([old], "a", "x");
    const after = await seal([fresh, old], "b", "x");

    expect(after).toMatch(/^1\.new\./);
    expect(await unseal([fresh, old], before, "x")).toEqual({ kind: "open", text: "a" });
    expect(await unseal([fresh], after, "x")).toEqual({ kind: "open", text: "b" });
    expect(await unseal([fresh], before, "x")).toEqual({ kind: "key_missing", keyName: "old" });
  });

  it("is refused without a key", async () => {
    await expect(seal([], "a", "x")).rejects.toMatchObject({ kind: "forbidden" });
  });

  it("does not unseal for another purpose, with another key of the name, or after a change", async () => {
    const keys = [makeKey("one")];
    const sealed = await seal(keys, "hunter2", "x");
    const [form = "", name = "", base64 = ""] = sealed.split(".");
    const bytes = Buffer.from(base64, "base64");
    const changed = Array.from({ length: bytes.length }, (_, at) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return [form, name, copy.toString("base64")].join(".");
    });
    const damaged = { kind: "damaged" };

    expect(await unseal(keys, sealed, "y")).toEqual(damaged);
    expect(await unseal([makeKey("one")], sealed, "x")).toEqual(damaged);
    const wrong = ["", "1", "1.one", "1.one.", "2" + sealed.slice(1), `${sealed}.x`, "1.one.AAAA"];
    for (const text of [...changed, ...wrong, sealed.slice(0, -4)]) {
      expect(await unseal(keys, text, "x"), text).toEqual(damaged);
    }
  });
});
