import { describe, expect, it } from "vitest";

import { Failure } from "../../../../src/lib/failure.ts";
import {
  openFormFile,
  readFormParts,
} from "../../../../src/domain/issues/attachments/form-file.ts";
import { makeRandom } from "../../../git/support/random.ts";

/** A byte stream that arrives in chunks of a size. */
function streamInChunks(bytes: Uint8Array, chunkBytes: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (at >= bytes.length) {
        controller.close();
        controller.byobRequest?.respond(0);
        return;
      }
      controller.enqueue(bytes.slice(at, at + chunkBytes));
      at += chunkBytes;
    },
  });
}

async function read(type: string, bytes: Uint8Array, chunkBytes = 7) {
  const file = await openFormFile(type, streamInChunks(bytes, chunkBytes), "attachment");
  if (!file) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of file.pieces) pieces.push(piece.slice());
  const content = new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer());
  return { name: file.name, content };
}

const TYPE = "multipart/form-data; boundary=XX";
const text = (lines: string) => new TextEncoder().encode(lines);
const partOf = (disposition: string, content = "hello") =>
  `--XX\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n`;

describe("openFormFile", () => {
  // The platform's own writer of forms is the reference. Contents are full of what looks like a
  // boundary.
  it("reads what the platform writes, in chunks of any size", async () => {
    const random = makeRandom(11);
    for (let round = 0; round < 60; round++) {
      const parts = ["\r", "\n", "-", "--", "\r\n--", "\r\n", "x", "\0", "\r\n--X"];
      const content = Array.from({ length: random.below(400) }, () => random.pick(parts)).join("");
      const form = new FormData();
      if (random.below(2) === 1) form.append("before", content);
      form.append("attachment", new File([content], "a.txt"));
      if (random.below(2) === 1) form.append("attachment", new File(["another"], "b.txt"));
      const request = new Response(form);
      const type = request.headers.get("Content-Type") ?? "";
      const bytes = new Uint8Array(await request.arrayBuffer());
      const found = await read(type, bytes, 1 + random.below(200));
      expect(found?.name).toBe("a.txt");
      expect(new TextDecoder().decode(found?.content)).toBe(content);
    }
  });

  it("skips a preamble, an epilogue, and spaces behind a boundary", async () => {
    const lines = `ignored\r\n${partOf("form-data; name=x")}--XX \t\r\nContent-Disposition: form-data; name=attachment; filename=a\r\n\r\nyes\r\n--XX--\r\nignored`;
    expect(await read(TYPE, text(lines))).toEqual({ name: "a", content: text("yes") });
  });

  it.each([
    ['form-data; name="attachment"; filename="a b.txt"', "a b.txt"],
    ['form-data; name="attachment"; filename="a \\"b\\".txt"', 'a "b".txt'],
    ['form-data; name="attachment"; filename="a %22b%22.txt"', 'a "b".txt'],
    ['form-data; name="attachment"; filename="C:\\dir\\a.txt"', "C:\\dir\\a.txt"],
    ["form-data; name=attachment; filename*=UTF-8''%E2%82%AC.txt; filename=e.txt", "€.txt"],
    ["form-data; name=attachment; filename=e.txt; filename*=UTF-8''%E2%82", "e.txt"],
    ['FORM-DATA; NAME="attachment"; FILENAME="ä.txt"', "ä.txt"],
    ['form-data; name="attachment"; filename=""', ""],
  ])("reads the names in %s", async (disposition, name) => {
    const found = await read(TYPE, text(`${partOf(disposition)}--XX--\r\n`));
    expect(found?.name).toBe(name);
  });

  it.each([
    'form-data; name="attachment"',
    'form-data; name="other"; filename="a"',
    'attachment; name="attachment"; filename="a"',
    'form-data; filename="a"',
  ])("finds no file in %s", async (disposition) => {
    expect(await read(TYPE, text(`${partOf(disposition)}--XX--\r\n`))).toBeUndefined();
  });

  const FILE = partOf('form-data; name="attachment"; filename="a"');
  it.each([
    ["another type", "application/json", `${FILE}--XX--`, "malformed"],
    ["no boundary", "multipart/form-data", `${FILE}--XX--`, "malformed"],
    [
      "a boundary that is none",
      'multipart/form-data; boundary="a\u00e9"',
      `${FILE}--XX--`,
      "malformed",
    ],
    ["another boundary", "multipart/form-data; boundary=YY", `${FILE}--XX--`, "malformed"],
    ["an empty body", TYPE, "", "malformed"],
    ["an end within the file", TYPE, FILE.slice(0, -4), "malformed"],
    ["an end within the headers", TYPE, "--XX\r\nContent-Dis", "malformed"],
    ["an end behind the boundary", TYPE, "--XX", "malformed"],
    ["endless headers", TYPE, `--XX\r\nA: ${"b".repeat(100_000)}`, "malformed"],
    ["a large other field", TYPE, partOf("form-data; name=x", "y".repeat(300_000)), "too_large"],
    ["a large preamble", TYPE, "y".repeat(300_000), "too_large"],
    ["a large epilogue", TYPE, `${FILE}--XX--${"y".repeat(300_000)}`, "too_large"],
  ])("refuses %s", async (_, type, lines, kind) => {
    const failure = await read(type, text(lines), 50_000).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(Failure);
    expect((failure as Failure).kind).toBe(kind);
  });
});

describe("readFormParts", () => {
  /** Reads the parts whose field is in `names`; skips the others. */
  async function readParts(bytes: Uint8Array, chunkBytes: number, names?: readonly string[]) {
    const parts: object[] = [];
    for await (const part of readFormParts(TYPE, streamInChunks(bytes, chunkBytes))) {
      if (names && !names.includes(part.name)) continue;
      const pieces: Uint8Array[] = [];
      for await (const piece of part.pieces) pieces.push(piece.slice());
      const content = await new Blob(pieces as BlobPart[]).text();
      parts.push({ name: part.name, filename: part.filename, content });
    }
    return parts;
  }

  const FORM = [
    partOf('form-data; name="a"', "1"),
    partOf('form-data; name="file"; filename="f"', "\r\n--X"),
    partOf('form-data; name="empty"', ""),
    partOf('form-data; name="a"', "2"),
    "--XX--\r\n",
  ].join("");

  it.each([1, 3, 50, 1000])("reads all parts, in chunks of %i bytes", async (chunkBytes) => {
    expect(await readParts(text(FORM), chunkBytes)).toEqual([
      { name: "a", filename: undefined, content: "1" },
      { name: "file", filename: "f", content: "\r\n--X" },
      { name: "empty", filename: undefined, content: "" },
      { name: "a", filename: undefined, content: "2" },
    ]);
  });

  it.each([["file"], ["empty"], ["a"], ["none"]])("skips all but %s", async (name) => {
    const all = await readParts(text(FORM), 20);
    const expected = all.filter((part) => "name" in part && part.name === name);
    expect(await readParts(text(FORM), 20, [name])).toEqual(expected);
  });

  it("goes on behind a part that was read in part", async () => {
    const large = partOf('form-data; name="file"; filename="f"', "x".repeat(200_000));
    const names: string[] = [];
    for await (const part of readFormParts(TYPE, streamInChunks(text(large + FORM), 1000))) {
      names.push(part.name);
      await part.pieces.next();
      await part.pieces.return(undefined);
    }
    expect(names).toEqual(["file", "a", "file", "empty", "a"]);
  });

  it.each([
    ["a large field", partOf('form-data; name="a"', "y".repeat(300_000)), "too_large"],
    ["many fields", partOf('form-data; name="a"', "y".repeat(1000)).repeat(300), "too_large"],
    ["an end within a field", FORM.slice(0, 40), "malformed"],
    ["no end", FORM.slice(0, -8), "malformed"],
  ])("refuses %s", async (_, lines, kind) => {
    await expect(readParts(text(lines), 50_000)).rejects.toMatchObject({ kind });
  });
});
