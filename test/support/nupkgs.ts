import { makeZip, type MadeEntry } from "./archives.ts";

/** A manifest of a package. @param more Further elements of its metadata. */
export const nuspecOf = (id: string, version: string, more = ""): string =>
  `<?xml version="1.0"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata minClientVersion="2.12">
    <id>${id}</id>
    <version>${version}</version>
    <authors>A U Thor, C O Mitter</authors>
    <description>Says &lt;hello&gt; &amp; more</description>
    ${more}
  </metadata>
</package>`;

/** Makes a package. @param entries Besides its manifest. */
export const makeNupkg = (
  id: string,
  version: string,
  more = "",
  entries: readonly MadeEntry[] = [{ path: "lib/net45/a.dll", content: `${id} ${version}` }],
): Uint8Array<ArrayBuffer> =>
  makeZip([{ path: `${id}.nuspec`, content: nuspecOf(id, version, more) }, ...entries]);

/** Makes a portable PDB with an id, as its 16 bytes, and nothing else. */
export function makePdb(id: Uint8Array): Uint8Array {
  const name = "PDB v1.0\0\0\0\0";
  const head = 16 + name.length + 4;
  const streams = ["#~", "#Pdb"];
  const table = streams.reduce(
    (bytes, each) => bytes + 8 + 4 * Math.ceil((each.length + 1) / 4),
    0,
  );
  const bytes = new Uint8Array(head + table + 20);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x424a5342, true);
  view.setUint32(12, name.length, true);
  bytes.set(new TextEncoder().encode(name), 16);
  view.setUint16(16 + name.length + 2, streams.length, true);
  let at = head;
  for (const each of streams) {
    view.setUint32(at, head + table, true);
    view.setUint32(at + 4, 20, true);
    bytes.set(new TextEncoder().encode(each), at + 8);
    at += 8 + 4 * Math.ceil((each.length + 1) / 4);
  }
  bytes.set(id, head + table);
  return bytes;
}
