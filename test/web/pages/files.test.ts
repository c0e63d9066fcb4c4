import { describe, expect, it } from "vitest";

import names from "../../../dist/pages/names.json";
import { visit } from "../../support/call.ts";

const COMPRESSED_BYTES_MAX = 60 * 1024;
/** The editor with any of its languages, on pages that write files alone. */
const EDITOR_BYTES_MAX = 250 * 1024;
const EDITOR = "editor.ts";

async function compressedSize(text: string): Promise<number> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}

/** The text of a file, and the names of those that it loads at once, and on demand. */
async function readFile(name: string) {
  const { status, body } = await visit("GET", `/-/pages/${name}`);
  expect(status, name).toBe(200);
  const text = String(body);
  const named = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found = ""]) => found);
  return {
    bytes: await compressedSize(text),
    imported: named(/(?:from|import)\s*"\.\/([^"]+)"/g),
    onDemand: named(/import\(\s*"\.\/([^"]+)"\s*\)/g),
  };
}

/** A file with all that it loads at once. */
async function closureOf(first: string) {
  const files = new Map<string, Awaited<ReturnType<typeof readFile>>>();
  const queue = [first];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (files.has(name)) continue;
    const file = await readFile(name);
    files.set(name, file);
    queue.push(...file.imported);
  }
  return files;
}

describe("the editor", () => {
  it("is small with each of its languages", async () => {
    const editor = await closureOf(names[EDITOR]);
    const languages = new Set([...editor.values()].flatMap(({ onDemand }) => onDemand));
    expect(languages.size).toBeGreaterThan(90);
    let largest = 0;
    for (const language of languages) {
      const files = new Map([...editor, ...(await closureOf(language))]);
      const bytes = [...files.values()].reduce((sum, file) => sum + file.bytes, 0);
      largest = Math.max(largest, bytes);
      expect(bytes, language).toBeLessThan(EDITOR_BYTES_MAX);
    }
    expect(largest).toBeGreaterThan(100 * 1024);
  });
});

describe("the files of pages", () => {
  it("are small, all together", async () => {
    const texts = Object.entries(names).filter(
      ([source]) => !source.endsWith(".svg") && source !== EDITOR,
    );
    const sizes = texts.map(async ([, name]) => {
      const { status, body } = await visit("GET", `/-/pages/${name}`);
      expect(status, name).toBe(200);
      return compressedSize(String(body));
    });
    const sum = (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
    expect(texts.length).toBeGreaterThan(3);
    expect(sum).toBeLessThan(COMPRESSED_BYTES_MAX);
  });

  it.each(Object.entries(names))(
    "are kept for good under a name of their own: %s",
    async (_, name) => {
      const { headers } = await visit("GET", `/-/pages/${name}`);
      expect(name).toMatch(/^[a-z-]+-[A-Z0-9]{8}\.(?:css|js|svg)$/);
      expect(headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("Content-Type")).toMatch(/^(?:text\/(?:css|javascript)|image\/svg\+xml)/);
    },
  );

  it("are those that a page names", async () => {
    const { body } = await visit("GET", "/user/login");
    const named = Array.from(String(body).matchAll(/\/-\/pages\/([^"#]+)/g), ([, name]) => name);
    expect(new Set(named)).toEqual(
      new Set([names["common.ts"], names["style.css"], names["favicon.svg"]]),
    );
  });

  it("are not kept where there is none of the name", async () => {
    const { status, headers } = await visit("GET", "/-/pages/style-00000000.css");
    expect(status).toBe(404);
    expect(headers.get("Cache-Control") ?? "").not.toContain("immutable");
  });

  it("have an icon at the address that browsers ask for", async () => {
    const { headers } = await visit("GET", "/favicon.ico");
    expect(headers.get("Location")).toBe(`/-/pages/${names["favicon.svg"]}`);
  });
});
