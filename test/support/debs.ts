import { type MadeEntry, makeTarGz } from "./archives.ts";

/** A member of an ar archive to make; its size may be claimed otherwise. */
export interface MadeMember {
  readonly name: string;
  readonly content: Uint8Array | string;
  readonly size?: string | undefined;
}

/** Makes an ar archive. */
export function makeAr(members: readonly MadeMember[]): Uint8Array<ArrayBuffer> {
  const parts = [new TextEncoder().encode("!<arch>\n")];
  for (const { name, content, size } of members) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const numbers = ["0", "0", "0", "100644"].map((each, at) =>
      each.padEnd([12, 6, 6, 8][at] ?? 0),
    );
    const header = `${name.padEnd(16)}${numbers.join("")}${(size ?? `${bytes.length}`).padEnd(10)}\`\n`;
    parts.push(new TextEncoder().encode(header), bytes.slice());
    if (bytes.length % 2 === 1) parts.push(new Uint8Array([10]));
  }
  const archive = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const part of parts) {
    archive.set(part, at);
    at += part.length;
  }
  return archive;
}

/** A control file of some fields, with those that each has. */
export const makeControl = (fields: Readonly<Record<string, string>>): string =>
  Object.entries({
    Version: "1.0",
    Architecture: "amd64",
    Maintainer: "A <a@example.com>",
    Description: "A package\n of a test",
    ...fields,
  })
    .map(([name, value]) => `${name}: ${value}\n`)
    .join("");

/** Makes a Debian package with a control file. */
export const makeDeb = (
  control: string,
  more: readonly MadeEntry[] = [],
): Promise<Uint8Array<ArrayBuffer>> =>
  makeDebOf([{ path: "./control", content: control }, ...more]);

/** Makes a Debian package with some control files. */
export async function makeDebOf(entries: readonly MadeEntry[]): Promise<Uint8Array<ArrayBuffer>> {
  return makeAr([
    { name: "debian-binary", content: "2.0\n" },
    { name: "control.tar.gz", content: await makeTarGz(entries) },
    { name: "data.tar.gz", content: await makeTarGz([{ path: "./usr/share/a", content: "a" }]) },
  ]);
}
